// Pages for people in a real browser: by keyboard, on a phone, light and dark. No page of these tests may have failures, requests to
// other machines, or serious findings of axe (WCAG 2.2).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { presetScopes, scopesOfRole } from '#access/scopes.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { days } from '#foundation/clock.ts';
import { developmentMailbox, mailboxAddress } from '#foundation/mail/mail.ts';
import { openBrowser } from '../../support/browser.ts';
import { createOwner, createProject } from '../../support/callers.ts';
import { authorizationRequest, claimGrantType } from '../../support/oauth-world.ts';
import { createPageInspector, type PageInspector } from '../../support/page-inspector.ts';
import { openWorld, type Session, type World } from '../../support/world.ts';

const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The tests in a browser are skipped: ${launched}.`);

describe.skipIf(typeof launched === 'string')('Pages in a browser', () => {
  const browser = launched as Browser;
  let world: World;
  let pages: PageInspector;

  beforeAll(async () => {
    world = await openWorld();
    pages = createPageInspector(browser, world.url);
  });
  afterEach(async () => {
    await pages.close();
    expect(pages.takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    await world.close();
  });

  const open = (session?: Session, options?: BrowserContextOptions) => pages.open(session, options);
  const inspect = (page: Page, name: string) => pages.inspect(page, name);

  /** Reaches the target by the Tab key alone, with a visible focus. */
  async function tabTo(page: Page, target: Locator): Promise<void> {
    const hasFocus = () => target.evaluate((element) => element === element.ownerDocument.activeElement);
    for (let steps = 0; steps < 80 && !(await hasFocus()); steps++) await page.keyboard.press('Tab');
    expect(await hasFocus()).toBe(true);
    expect(await target.evaluate((element) => getComputedStyle(element).outlineStyle)).not.toBe('none');
  }

  async function signInByKeyboard(page: Page, email: string): Promise<void> {
    await page.getByLabel('Email', { exact: true }).waitFor();
    // The field already has the focus.
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await page.getByLabel('Six-digit code').waitFor();
    await page.keyboard.type(await codeFor(email));
    await page.keyboard.press('Enter');
  }

  async function codeFor(to: string): Promise<string> {
    await world.delivered();
    return /\b\d{6}\b/.exec(developmentMailbox()!.find((mail) => mail.to === to)!.text)![0];
  }

  let count = 0;
  async function owner(): Promise<{ person: Person; organization: Organization; session: Session }> {
    // `createOwner` would also create a token, and a test needs the page of a person without tokens.
    const person = await world.person(`Owner${++count}`);
    const organization = await world.found(person, `Organization ${count}`);
    return { person, organization, session: await world.session(person) };
  }

  const statusAt = async (path: string, token: string) => (await world.request('GET', path, { token })).status;

  it('a person signs in by keyboard with a mailed code, creates an organization, and signs out', async () => {
    const page = await open();
    await page.goto('/console/account');
    await inspect(page, 'sign-in');
    await signInByKeyboard(page, 'newcomer@example.com');
    await page.getByRole('heading', { name: 'Welcome, newcomer' }).waitFor();
    await inspect(page, 'welcome');

    await tabTo(page, page.getByLabel('Name').first());
    await page.keyboard.type('Ada and company');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.goto('/console/account');
    await page.getByText('ada-and-company').waitFor();
    const { person: founder, organization: another } = await createOwner(world, 'Grace', 'Another company');
    await inviteTo(another, founder, 'newcomer@example.com');
    await page.reload();
    await page.getByRole('button', { name: 'Join Another company' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await tabTo(page, page.getByText('Organization: Another company'));
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Switch to Ada and company' }).waitFor();
    await page.getByRole('link', { name: 'All organizations' }).click();
    await page.getByRole('link', { name: 'Open Ada and company' }).waitFor();
    await inspect(page, 'account');

    await tabTo(page, page.getByRole('link', { name: 'Tokens' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Personal access tokens' }).waitFor();
    expect(await page.getByRole('link', { name: 'Tokens' }).getAttribute('aria-current')).toBe('page');
    await tabTo(page, page.getByRole('button', { name: 'Sign out' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/console');
    await page.getByLabel('Email', { exact: true }).waitFor();
  });

  async function inviteTo(organization: Organization, inviter: Person, email: string): Promise<void> {
    const { id: orgId } = organization;
    const session = await world.session(inviter, orgId);
    const answer = await world.rest('POST', '/invites', { session, body: { email, role: 'member' } });
    expect(answer.status).toBe(201);
  }

  it('axe finds no serious problem in the page for a wrong code, the mailbox and the error page', async () => {
    const page = await open();
    await page.goto('/sign-in');
    await page.getByLabel('Email', { exact: true }).fill('visitor@example.com');
    await page.keyboard.press('Enter');
    await page.getByLabel('Six-digit code').fill('no');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await inspect(page, 'code');
    await world.delivered();
    await page.goto(mailboxAddress()!);
    expect(new URL(page.url()).search).toBe('');
    await inspect(page, 'mailbox');
    await page.goto('/sign-in/code');
    await inspect(page, 'problem');
    // The browser itself logs the two requests that failed: one sent the wrong code, and the other asked for a page that does not exist.
    expect(pages.takeProblems().map((fault) => /status of \d+/.exec(fault)?.[0])).toEqual([
      'status of 401',
      'status of 405',
    ]);
  });

  it('a token is created, copied, used and revoked; its secret appears only on the page that created it', async () => {
    const { person, organization, session } = await owner();
    await createProject(world, { session }, 'Rocket & Co', { repoFullName: 'acme/rocket' });
    const page = await open(session, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/console/tokens');
    await page.getByText('No tokens yet.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Nightly reports');
    await page.getByLabel('Expires in').selectOption('30 days');
    await page.getByLabel('Project', { exact: true }).selectOption('Only Rocket & Co');
    await page.getByRole('button', { name: 'Create token' }).click();
    // An invalid form keeps its values.
    await page.getByText('Select at least one.').waitFor();
    expect(await page.locator('[aria-invalid=true]').evaluate((it) => it === it.ownerDocument.activeElement)).toBe(
      true,
    );
    await page.getByLabel('See missions, their progress and their cost.').check();
    await page.getByLabel('Create, change and delete projects.').check();
    await inspect(page, 'tokens-empty');
    await tabTo(page, page.getByRole('button', { name: 'Create token' }));
    await page.keyboard.press('Enter');

    await page.getByText('You won’t see it again.').waitFor();
    const token = (await page.locator('.secret code').textContent())!;
    expect(token).toMatch(/^pat_[\w-]{43}$/);
    await inspect(page, 'token-new');
    await page.getByRole('button', { name: 'Copy token' }).click();
    await page.getByRole('button', { name: 'Copied: Copy token' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token);
    const places = 'JSON.stringify([location.href, history.state, { ...sessionStorage }, { ...localStorage }])';
    expect(await page.evaluate(places)).not.toMatch(/pat_|Nightly/);
    const me = await world.rest('GET', '/me', { token });
    expect([me.body.orgId, me.body.scopes]).toEqual([organization.id, ['missions:read', 'projects:write']]);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    await page.getByRole('button', { name: 'Create token' }).waitFor();
    expect(await page.content()).not.toContain(token);

    const { id: orgId } = organization;
    await world.knex('memberships').where({ orgId, userId: person.id }).update({ role: 'viewer' });
    await page.reload();
    const row = page.getByRole('listitem').filter({ hasText: 'Nightly reports' });
    await row.getByText('Last used').waitFor();
    await row.getByText('Only Rocket & Co').waitFor();
    await row.getByText('Your role no longer includes projects:write').waitFor();
    expect(await page.getByLabel('Create, change and delete projects.').count()).toBe(0);
    await inspect(page, 'tokens');
    await page.getByRole('button', { name: 'Revoke Nightly reports' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke Nightly reports' }).click();
    await page.getByText('It stopped working at once').waitFor();
    expect(await statusAt('/v1/me', token)).toBe(401);
    await page.getByText('Expired and revoked (1)').click();
    await page.getByText('· Created just now · Revoked just now').waitFor();
  });

  it('a preset, which the URL can name, selects the scopes of a new token; a counter shows their number, and entered values stay', async () => {
    const { session } = await owner();
    const page = await open(session);
    await page.goto('/console/tokens?preset=read');
    const boxes = page.getByRole('group', { name: 'Scopes' }).getByRole('checkbox');
    await boxes.first().waitFor();
    const ticked = () => page.locator('.groups :checked').count();
    const readable = presetScopes('read', scopesOfRole('owner')).length;
    await page.getByText(`${readable} of at most 25 scopes selected.`).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Nightly');
    await page.getByLabel('Expires in').selectOption('Another number of days');
    await page.getByLabel('Number of days').fill('45');
    await page.getByRole('button', { name: 'Everything' }).click();
    const all = presetScopes('all', scopesOfRole('owner')).length;
    await page.getByText(`${all} of at most 25 scopes selected.`).waitFor();
    for (const box of await boxes.all()) await box.check();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Must be at most 25 entries.').waitFor();
    await page.getByRole('button', { name: 'Run missions' }).click();
    await page.getByLabel('See missions, their progress and their cost.').uncheck();
    await page.getByText(`${await ticked()} of at most 25 scopes selected.`).waitFor();
    await page.reload();
    await page.getByText('Your unsent changes have been restored.').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Nightly');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('You won’t see it again.').waitFor();
    const { data } = (await world.rest('GET', '/tokens', { session })).body;
    expect(data).toMatchObject([{ name: 'Nightly', expiresAt: data[0].createdAt + days(45) }]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(`${readable} of at most 25 scopes selected.`).waitFor();
  });

  it('on a phone the menu opens by its button and by keyboard, and marks the current page', async () => {
    const { session } = await owner();
    const page = await open(session, { viewport: { width: 390, height: 844 } });
    for (const path of ['/console/account', '/console/tokens', '/console/connected-agents', '/console/sessions']) {
      await page.goto(path);
      const current = page.locator('nav [aria-current]');
      expect(await current.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Menu' }).click();
      const { x, width } = (await current.boundingBox())!;
      expect([path, x >= 0 && x + width <= 390]).toEqual([path, true]);
    }
    await inspect(page, 'menu');
    await page.keyboard.press('Escape');
    await page.locator('nav [aria-current]').waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await page.locator('nav [aria-current]').waitFor();
  });

  it('a missing page says so, and links to other pages', async () => {
    const { session } = await owner();
    const page = await open(session);
    await page.goto('/console/nowhere');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await inspect(page, 'not-found');
    await page.getByRole('link', { name: 'Go to the console' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    expect(pages.takeProblems()).toEqual([expect.stringContaining('status of 404')]);
  });

  it('a session is ended from another browser', async () => {
    const { person, session } = await owner();
    const laptop = await open(session);
    const phone = await open(await world.session(person));
    await world.session(person);
    await phone.goto('/console/account');
    await laptop.goto('/console/sessions');
    await inspect(laptop, 'sessions');
    expect(await laptop.getByRole('button', { name: /^End the session/ }).count()).toBe(2);
    await laptop
      .getByRole('button', { name: /^End the session/ })
      .first()
      .click();
    await laptop.getByText('Session ended.').waitFor();
    await laptop.getByRole('button', { name: 'End all other sessions' }).click();
    await laptop.getByText('One other session was ended.').waitFor();
    await phone.goto('/console');
    await phone.getByLabel('Email', { exact: true }).waitFor();
    await laptop.goto('/console/account');
    await laptop.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('a client on this machine requests access, uses it, and loses it when the person revokes it', async () => {
    const { session } = await owner();
    const page = await open(session);
    const loopback = await listen();
    const registered = await world.request('POST', '/v1/oauth2/register', {
      body: { redirect_uris: ['http://127.0.0.1/callback'], client_name: '<b>Sample</b> editor' },
    });
    const clientId: string = registered.body.client_id;
    const redirectUri = `http://127.0.0.1:${loopback.port}/callback`;
    const { verifier, parameters } = authorizationRequest(clientId, {
      redirect_uri: redirectUri,
      resource: `${world.url}/mcp`,
    });
    await page.goto(`/oauth/authorize?${new URLSearchParams(parameters as Record<string, string>)}`);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('The sample editor goes on.').waitFor();
    const back = new URL(page.url()).searchParams;
    expect([back.get('state'), back.get('iss')]).toEqual([parameters.state, world.url]);
    loopback.server.close();

    const tokens = await form('/v1/oauth2/token', {
      grant_type: 'authorization_code',
      code: back.get('code')!,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: verifier,
    });
    const token: string = tokens.body.access_token;
    const tools = async () =>
      (await world.request('POST', '/mcp', { token, headers: mcpHeaders, body: listTools })).status;
    expect([await tools(), await statusAt('/v1/me', token)]).toEqual([200, 401]);

    await page.goto('/console/connected-agents');
    const row = page.getByRole('listitem').filter({ hasText: '<b>Sample</b> editor' });
    for (const words of ['Client that you signed in to', 'For the MCP server', 'Last used', 'missions:read']) {
      await row.getByText(words).first().waitFor();
    }
    await inspect(page, 'connected-agents');
    await page.getByRole('button', { name: 'Revoke <b>Sample</b> editor' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke <b>Sample</b> editor' }).click();
    await page.getByText('Its access is revoked. One active token stopped working.').waitFor();
    await page.getByText('No agent has access yet.').waitFor();
    await page.getByText('Expired and revoked (1)').click();
    await page.getByText('Granted just now · Revoked').waitFor();
    expect(await tools()).toBe(401);
  });

  it.each([true, false])(
    'the button Allow grants access to the organization that the person selects instead of the preselected one (script: %s)',
    async (javaScriptEnabled) => {
      const { person, organization, session } = await owner();
      const { organization: second } = await createOwner(world, person, `Second of ${organization.name}`);
      await createProject(world, { session: await world.session(person, second.id) }, 'Rocket');
      const page = await open(session, { javaScriptEnabled });
      const loopback = await listen();
      const registered = await world.request('POST', '/v1/oauth2/register', {
        body: { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'Sample editor' },
      });
      const redirectUri = `http://127.0.0.1:${loopback.port}/callback`;
      const { parameters } = authorizationRequest(registered.body.client_id, { redirect_uri: redirectUri });
      await page.goto(`/oauth/authorize?${new URLSearchParams(parameters as Record<string, string>)}`);
      await page.getByLabel('Organization').selectOption({ label: `${second.name} (owner)` });
      if (javaScriptEnabled) await inspect(page, 'consent-organizations');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByText('The sample editor goes on.').waitFor();
      loopback.server.close();
      const granted = await world.knex('authorizationCodes').where({ userId: person.id });
      expect(granted.map(({ orgId, projectId }) => [orgId, projectId])).toEqual([[second.id, null]]);
    },
  );

  it('an agent that registered itself is claimed, works, and loses access when it is revoked', async () => {
    const { person, organization } = await owner();
    const page = await open();
    const registered = await world.request('POST', '/v1/agent/identity', {
      body: { type: 'anonymous', agent_name: 'Refactoring agent' },
    });
    const claimToken: string = registered.body.claim_token;
    const started = await world.request('POST', '/v1/agent/identity/claim', {
      body: { claim_token: claimToken, email: person.email },
    });
    const { verification_uri, user_code } = started.body.claim_attempt;
    await page.goto(verification_uri);
    await signInByKeyboard(page, person.email);
    await page.getByText('Refactoring agent').waitFor();
    await inspect(page, 'claim');
    await page.keyboard.type(user_code);
    await tabTo(page, page.getByRole('button', { name: 'Allow' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Done' }).waitFor();
    await inspect(page, 'claimed');

    const tokens = await form('/v1/oauth2/token', { grant_type: claimGrantType, claim_token: claimToken });
    const token: string = tokens.body.access_token;
    const me = await world.rest('GET', '/me', { token });
    expect([me.body.principalType, me.body.userId, me.body.orgId]).toEqual(['user', person.id, organization.id]);
    expect(await statusAt('/v1/projects', token)).toBe(200);

    await page.getByRole('link', { name: 'Connected agents' }).first().click();
    await page.getByText('For the API and the MCP server').waitFor();
    await page.getByRole('button', { name: 'Revoke Refactoring agent' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke Refactoring agent' }).click();
    await page.getByText('One active token stopped working.').waitFor();
    expect(await statusAt('/v1/me', token)).toBe(401);
  });

  it('GraphiQL answers a query of the person who is signed in', async () => {
    const { session, organization } = await owner();
    const page = await open(session);
    await page.goto('/graphql');
    await page.getByRole('button', { name: /^Execute query/ }).click();
    await page.getByText(organization.id).waitFor();
  });

  it('the index of errors links to each code, by keyboard too', async () => {
    const page = await open();
    await page.goto('/reference/errors');
    await inspect(page, 'errors');
    await tabTo(page, page.getByRole('link', { name: 'missing_scope', exact: true }).first());
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#missing_scope');
    expect(await page.getByRole('heading', { name: /^missing_scope/ }).isVisible()).toBe(true);
  });

  it('the API reference is filtered by words, copies an example, and tries an operation with the session', async () => {
    const { person, session } = await owner();
    const page = await open(session);
    await page.goto('/reference');
    const menu = page.getByRole('navigation', { name: 'Contents' });
    // The whole page has hundreds of operations that look alike: axe would take many seconds for them.
    await menu.getByLabel('Filter').fill('webhook');
    await inspect(page, 'reference');
    await page.setViewportSize({ width: 1280, height: 720 });
    await menu.getByLabel('Filter').fill('no such operation');
    await page.getByText('No operation matches the filter.').waitFor();
    await menu.getByLabel('Filter').fill('get /me');
    await menu.getByRole('link', { name: 'GET /me', exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#me');
    const operation = page.locator('article#me');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await operation.getByRole('button', { name: 'Copy' }).click();
    await operation.getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`curl '${world.url}/v1/me'`);
    await operation.getByText('Try it').click();
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText(person.id).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  });

  const mcpHeaders = { accept: 'application/json, text/event-stream' };
  const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

  const form = (path: string, fields: Record<string, string>) =>
    world.request('POST', path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
});

/**
 * Starts a server like that of an OAuth client which runs on the person's machine. The service redirects the browser to this server, which
 * thereby receives the authorization code.
 */
async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/html' });
    res.end('<!doctype html><title>Sample editor</title><link rel="icon" href="data:,"><p>The sample editor goes on.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
