// Passkeys in a real browser with a virtual authenticator (Chrome DevTools Protocol, WebAuthn domain): created on the first page
// after sign-in, used, refused, removed. The console's address is localhost, which needs no https.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { openBrowser } from '../../support/browser.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Passkeys in a browser', () => {
  const browser = launched as Browser;
  let world: World;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    const issuer = world.url.replace('127.0.0.1', 'localhost');
    bindAddresses({ baseHost: issuer, issuer, mcp: issuer, a2a: `${issuer}/a2a` });
    pages = createPageInspector(browser, issuer);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await world.close();
  });

  /** A device that keeps passkeys and verifies its user, who always agrees unless `setUserVerified` says otherwise. */
  async function authenticatorOf(page: Page) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return {
      credentials: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
      add: (credential: Awaited<ReturnType<typeof devtools.send<'WebAuthn.getCredentials'>>>['credentials'][number]) =>
        devtools.send('WebAuthn.addCredential', { authenticatorId, credential }),
      setUserVerified: (isUserVerified: boolean) =>
        devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    };
  }

  async function signInByMail(page: Page, email: string): Promise<void> {
    await page.goto('/sign-in');
    await page.getByLabel('Email', { exact: true }).fill(email);
    await page.getByRole('button', { name: 'Email me a code' }).click();
    await page.getByLabel('Six-digit code').waitFor();
    await world.delivered();
    const code = /\b\d{6}\b/.exec(developmentMailbox()!.find((mail) => mail.to === email)!.text)![0];
    await page.getByLabel('Six-digit code').fill(code);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  }

  it('a passkey is created after the first sign-in, signs in from then on, and is removed', async () => {
    const page = await pages.open(null, {});
    const authenticator = await authenticatorOf(page);
    await signInByMail(page, 'ada@example.com');
    await page.getByRole('heading', { name: 'Sign in faster next time' }).waitFor();
    await pages.inspect(page, 'passkey-offer');
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('Passkey created.').waitFor();
    expect(await authenticator.credentials()).toMatchObject([
      { rpId: 'localhost', isResidentCredential: true, signCount: 1 },
    ]);

    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('This device already has a passkey for your account.').waitFor();

    const phone = await pages.open(null, {});
    // The browser would suggest the passkey in the email field, and a virtual authenticator would accept the suggestion before the button is clicked.
    await phone.addInitScript('delete PublicKeyCredential.isConditionalMediationAvailable');
    const [credential] = await authenticator.credentials();
    const there = await authenticatorOf(phone);
    await there.setUserVerified(false);
    await phone.goto('/sign-in?return_to=%2Fconsole%2Fpasskeys');
    await there.add(credential!);
    await phone.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await pages.inspect(phone, 'sign-in-with-passkey');
    await phone.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await phone.getByText('No passkey was used.').waitFor();
    await there.setUserVerified(true);
    await phone.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await phone.getByText('Last used just now').waitFor();
    expect(new URL(phone.url()).pathname).toBe('/console/passkeys');

    await phone.locator('summary', { hasText: 'Remove' }).click();
    await pages.inspect(phone, 'passkey-removal');
    await phone.getByRole('button', { name: /^Remove/ }).click();
    await phone.getByText('Passkey removed.').waitFor();
    await phone.getByRole('button', { name: 'Sign out' }).click();
    await phone.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await phone.getByText('This passkey is unknown.').waitFor();
    expect(pages.takeProblems().map((fault) => /status of \d+/.exec(fault)?.[0])).toEqual(['status of 401']);
  });

  it('a person signs in with the passkey that the email field suggests', async () => {
    const page = await pages.open(null, {});
    const authenticator = await authenticatorOf(page);
    await signInByMail(page, 'suggested@example.com');
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('Passkey created.').waitFor();
    const [credential] = await authenticator.credentials();
    const phone = await pages.open(null, {});
    await (await authenticatorOf(phone)).add(credential!);
    await phone.goto('/sign-in');
    await phone.getByRole('heading', { name: 'Welcome, suggested' }).waitFor();
  });

  it('the offer of a passkey can be skipped, and sign-in works without scripts', async () => {
    const page = await pages.open(null, { javaScriptEnabled: false });
    await signInByMail(page, 'grace@example.com');
    expect(await page.getByRole('heading', { name: 'Sign in faster next time' }).isVisible()).toBe(false);
    await page.goto('/console/passkeys');
    expect(await page.getByRole('button', { name: 'Create passkey' }).isVisible()).toBe(false);

    const scripted = await pages.open(null, {});
    await signInByMail(scripted, 'grace@example.com');
    await scripted.getByRole('button', { name: 'Not now' }).click();
    await scripted.getByRole('heading', { name: 'Welcome, grace' }).waitFor();
    await scripted.reload();
    expect(await scripted.getByRole('heading', { name: 'Sign in faster next time' }).count()).toBe(0);
  });

  it('a mailed link shows whose account it opens, and its button signs in', async () => {
    const page = await pages.open(null, {});
    await page.goto('/sign-in');
    await page.getByLabel('Email', { exact: true }).fill('linked@example.com');
    await page.keyboard.press('Enter');
    await page.getByLabel('Six-digit code').waitFor();
    await world.delivered();
    const { text } = developmentMailbox()!.find(({ to }) => to === 'linked@example.com')!;
    const phone = await pages.open(null, {});
    await phone.goto(/\S+\/sign-in\/link\?\S+/.exec(text)![0]);
    await pages.inspect(phone, 'link');
    await phone.getByRole('button', { name: 'Sign in as l•••@example.com' }).click();
    await phone.getByRole('heading', { name: 'Welcome, linked' }).waitFor();
  });
});
