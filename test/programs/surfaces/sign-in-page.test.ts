// The settings of sign-in in a browser: a domain is verified, a provider is connected and tested, and a new person signs in through it.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openBrowser } from '../../support/browser.ts';
import { type Account, createOwner } from '../../support/callers.ts';
import { client, type OpenIdProvider, openOpenIdProvider } from '../../support/fake-openid-provider.ts';
import { createSamlProvider } from '../../support/fake-saml-provider.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Sign-in settings in the console', () => {
  let world: World;
  let owner: Account;
  let provider: OpenIdProvider;
  let pages: PageInspector;
  let records: string[] = [];
  beforeAll(async () => {
    openOutbound({ allowLoopback: true, resolveTxt: async () => records.map((record) => [record]) });
    world = await openWorld();
    provider = await openOpenIdProvider();
    owner = await createOwner(world, 'Ada', 'Acme');
    pages = createPageInspector(launched as Browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    openOutbound({ allowLoopback: false });
    await provider.close();
    await world.close();
  });

  it('an owner adds a domain, connects a provider and tests it, and the provider signs a new person in', async () => {
    const page = await pages.open(await world.session(owner.person, owner.organization.id));
    await page.goto('/console/o/acme/sign-in');
    await page.getByText('No domains yet.').waitFor();
    await page.getByRole('textbox', { name: 'Domain' }).fill('example.com');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('_agent-platform-challenge.example.com').waitFor();
    records = await world.knex('sign_in_domains').pluck('token');
    await page.getByRole('button', { name: 'Check record: example.com' }).click();
    await page.getByText('No provider: members sign in with a code or a passkey.').waitFor();

    const fields = page.getByRole('form', { name: 'Connect provider' });
    await page.getByLabel('Protocol').selectOption('saml');
    await fields.getByRole('textbox', { name: 'Name' }).fill('Entra');
    await fields.getByLabel('Or metadata as XML').fill(createSamlProvider('https://idp.example', Date.now).metadata());
    await pages.inspect(page, 'new SAML provider');
    await fields.getByRole('button', { name: 'Connect provider' }).click();
    await page.getByRole('button', { name: 'Copy the entity id for Entra' }).waitFor();
    await pages.inspect(page, 'SAML provider');
    await page.getByRole('button', { name: 'Delete Entra' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete Entra' }).click();
    await page.getByText('No identity providers yet.').waitFor();
    await page.getByLabel('Protocol').selectOption('oidc');
    await fields.getByRole('textbox', { name: 'Name' }).fill('Okta');
    await fields.getByRole('textbox', { name: 'Issuer' }).fill(provider.issuer);
    await fields.getByRole('textbox', { name: 'Client ID' }).fill(client.clientId);
    await fields.getByLabel('Client secret').fill(client.clientSecret);
    await fields.getByLabel('New people').selectOption('member');
    await fields.getByRole('button', { name: 'Connect provider' }).click();
    await page.getByLabel('Provider of example.com').selectOption('Okta');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('not tested').waitFor();
    await pages.inspect(page, 'sign-in settings');

    await page.getByRole('link', { name: 'Test Okta' }).click();
    await page.getByRole('heading', { name: 'Okta works' }).waitFor();
    await page.getByRole('link', { name: 'Back to the settings' }).click();
    await page.getByRole('checkbox', { name: 'Required' }).check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Okta, required').waitFor();

    provider.behave({ claims: { sub: 'new', email: 'new@example.com', email_verified: true, name: 'New Person' } });
    const visitor = await pages.open(null);
    await visitor.goto('/sign-in');
    await visitor.getByRole('textbox', { name: 'Email' }).fill('new@example.com');
    await visitor.getByRole('button', { name: 'Email me a code' }).click();
    await visitor.getByText('Acme requires its provider.').waitFor();
    await pages.inspect(visitor, 'choice of the provider');
    await visitor.getByRole('link', { name: 'Continue with Okta' }).click();
    await visitor.waitForURL('**/console/o/acme/inbox');
    await visitor.goto('/console/account');
    await visitor.getByText('so you see no other one').waitFor();
    await pages.inspect(visitor, 'account of a session of a provider');
  });
});
