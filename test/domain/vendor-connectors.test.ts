// Connectors to trackers and source hosts: credentials that the vendor accepts, GitHub Apps, Linear applications, and disconnection.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Integration } from '#domain/projects/integrations/model.ts';
import { Project } from '#domain/projects/projects/model.ts';
import { githubHost } from '#domain/projects/vendors/github/source-host.ts';
import { readRepositoryFile } from '#domain/projects/vendors/source-host-of.ts';
import { minutes } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import type { Id } from '#foundation/ids.ts';
import { unseal } from '#foundation/secrets/secrets.ts';
import { fields, openConnectorWorld } from '../support/connector-world.ts';
import { present } from '../support/world.ts';

const {
  world,
  linear,
  github,
  alice,
  projectId,
  graphql,
  connectVendor,
  act,
  rotate,
  disconnect,
  connectorOf,
  close,
  reset,
} = await openConnectorWorld();
afterAll(close);
beforeEach(reset);

describe('connectors of trackers and source hosts', () => {
  const issues = { vendor: 'linear', displayName: 'Linear', credentials: 'lin_api_ofAcme' };
  const code = { vendor: 'github', vendorKind: 'scm', displayName: 'Code', credentials: 'ghp_ofAcme' };

  it('a connector of a tracker or source host is checked with its vendor and shows its account; projects without a connector get the new one', async () => {
    expect(await connectVendor(issues)).toMatchObject({
      vendorKind: 'tracker',
      externalOrgId: 'acme',
      hasCredentials: true,
      checkedAt: present(),
      checkFailure: null,
    });
    const connector = await connectVendor(code);
    expect(connector).toMatchObject({
      vendorKind: 'scm',
      externalOrgId: 'acme-bot',
      baseUrl: null,
      checkFailure: null,
    });
    const row = await world.knex('integrations').where({ id: connector.id }).first();
    expect(unseal(`integration:${connector.id}`, row.sealedCredentials)).toBe('ghp_ofAcme');
    expect(await connectorOf()).toMatchObject({ scmConnectorId: connector.id });
    expect([linear.asked, github.asked]).toEqual([['Whose'], ['users/get-authenticated']]);
    expect([linear.violations, github.violations]).toEqual([[], []]);
  });

  it('a built-in connector needs no credentials, and accepts none', async () => {
    const connector = await connectVendor({ vendor: 'builtin', displayName: 'Issues' });
    expect(connector).toMatchObject({ vendorKind: 'tracker', hasCredentials: false, checkedAt: null });
    expect(await rotate(connector.id, 'x')).toMatchObject({ description: 'credentials: must be absent for builtin.' });
    expect(await act('check', connector.id)).toMatchObject({ checkedAt: present(), checkFailure: null });
  });

  it('400 · credentials that the vendor rejects are refused with its message, and change nothing', async () => {
    const refused = 'GitHub rejected the credentials of the scm connector (Bad credentials): replace them.';
    expect(await connectVendor({ ...code, credentials: 'ghp_wrong' })).toMatchObject({
      code: 'invalid_request',
      description: `credentials: ${refused}`,
    });
    expect(await connectVendor({ ...issues, credentials: 'lin_api_wrong' })).toMatchObject({
      code: 'invalid_request',
      description:
        'credentials: Linear rejected the credentials of the tracker connector (You need to authenticate to access this ' +
        'operation.): replace them.',
    });
    expect(await world.knex('integrations')).toEqual([]);
    const { id } = await connectVendor(code);
    expect(await rotate(id, 'ghp_wrong')).toMatchObject({ description: `credentials: ${refused}` });
    expect(await world.knex('integrations')).toMatchObject([{ id, brokenSince: null, checkFailure: null }]);
    github.settings.token = 'ghp_next';
    expect(await act('check', id)).toMatchObject({ checkFailure: refused });
    expect(await rotate(id, 'ghp_next')).toMatchObject({ checkFailure: null, brokenSince: null });
  });

  it.each([
    ['GitHub is unreachable.', 'lose the answer'],
    ['GitHub failed (status 500).', { status: 500 }],
    ['GitHub limits the rate of requests.', { status: 403, headers: { 'retry-after': '60' } }],
    [expect.stringMatching(/^No GitHub API was found at http:.* \(status 404\)\.$/), { status: 404 }],
  ] as const)('a connector is created without a check when the vendor fails: %s', async (failure, disturbance) => {
    github.disturb('users/get-authenticated', disturbance);
    const connector = await connectVendor(code);
    expect(connector).toMatchObject({ externalOrgId: null, checkedAt: present(), checkFailure: failure });
    expect(await act('check', connector.id)).toMatchObject({ checkFailure: null, externalOrgId: 'acme-bot' });
  });

  it('calls that are repeated with one Idempotency-Key create one connector, and hold no transaction during the check', async () => {
    const query = `mutation ($vendor: Vendor!, $vendorKind: VendorKind, $displayName: String!, $credentials: String) {
      connectIntegration(vendor: $vendor, vendorKind: $vendorKind, displayName: $displayName, credentials: $credentials) { id } }`;
    const headers = { 'idempotency-key': 'connect-once' };
    const ask = () => world.graphql(query, { token: alice.token, headers, variables: code });
    github.disturb('users/get-authenticated', 'never answer');
    const late = new AbortController();
    const timeouts = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
    const first = ask();
    await vi.waitFor(() => expect(github.asked).toHaveLength(1));
    const open =
      "select count(*)::int as n from pg_stat_activity where state = 'idle in transaction' and datname = current_database()";
    expect((await world.knex.raw(open)).rows).toEqual([{ n: 0 }]);
    late.abort();
    timeouts.mockRestore();
    const { body } = await first;
    expect(await ask()).toMatchObject({ body });
    expect(await world.knex('integrations')).toMatchObject([
      { id: body.data.connectIntegration.id, checkFailure: 'GitHub did not answer in time.' },
    ]);
    headers['idempotency-key'] = 'refused-at-first';
    github.settings.token = 'ghp_another';
    expect((await ask()).body.errors[0].extensions.problem).toMatchObject({ code: 'invalid_request' });
    github.settings.token = 'ghp_ofAcme';
    expect((await ask()).body.data.connectIntegration.id).toMatch(/^int_/);
  });

  it('a connector can have the URL of a GitHub Enterprise Server, and the URL is checked', async () => {
    const own = await connectVendor({ ...code, baseUrl: `${github.address}/` });
    expect(own).toMatchObject({ baseUrl: github.address, checkFailure: null });
    github.disturb('users/get-authenticated', { status: 200, headers: { 'content-type': 'text/html' } });
    expect(await connectVendor({ ...code, baseUrl: github.address })).toMatchObject({
      code: 'invalid_request',
      description: `baseUrl: No GitHub API was found at ${github.address} (status 200).`,
    });
    openOutbound({ allowLoopback: false });
    try {
      expect(await connectVendor({ ...code, baseUrl: github.address })).toMatchObject({
        description: 'baseUrl: must be an https URL of a public host, on port 443.',
      });
    } finally {
      openOutbound({ allowLoopback: true });
    }
  });

  it('409 · a connector in use is disconnected only if the request says so; its projects then get another connector, preferably one to the same server', async () => {
    const [one, elsewhere] = [await connectVendor(code), await connectVendor({ ...code, baseUrl: github.address })];
    expect(await disconnect(one.id)).toMatchObject({
      code: 'conflict',
      description: 'The connector is in use: it is the scm connector of 1 project.',
    });
    expect(await disconnect(elsewhere.id)).toEqual({ ok: true, id: elsewhere.id });
    const two = await connectVendor(code);
    expect(await disconnect(one.id, true)).toEqual({ ok: true, id: one.id });
    expect(await connectorOf()).toMatchObject({ scmConnectorId: two.id });
    const third = await connectVendor({ ...code, baseUrl: github.address });
    await disconnect(two.id, true);
    expect(await connectorOf()).toMatchObject({ scmConnectorId: third.id });
    await disconnect(third.id, true);
    expect(await connectorOf()).toMatchObject({ scmConnectorId: '' });
  });
});

describe('installations of a GitHub App', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
  const githubApp = { appId: '42', installationId: '7', privateKey: pem };
  const code = { vendor: 'github', vendorKind: 'scm', displayName: 'Code', githubApp };
  const permissions = { contents: 'write', pull_requests: 'write', issues: 'write', metadata: 'read' };
  const change = (integrationId: string, app: object) =>
    graphql(
      `mutation ($id: String!, $app: GitHubAppRequest) { rotateIntegration(integrationId: $id, githubApp: $app) ${fields} }`,
      { id: integrationId, app },
    );
  beforeEach(() => {
    github.settings.app = { appId: '42', installationId: '7', publicKey, permissions };
  });
  afterEach(() => expect(github.violations).toEqual([]));

  it('an installation of a GitHub App is connected with the App’s key, which is stored sealed and can be rotated', async () => {
    const connector = await connectVendor(code);
    expect(connector).toMatchObject({ externalOrgId: 'acme', hasCredentials: true, checkFailure: null });
    const row = await world.knex('integrations').where({ id: connector.id }).first();
    expect(JSON.stringify(row)).not.toContain(pem.split('\n')[1]);
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' });
    expect(await change(connector.id, { ...githubApp, privateKey: pkcs8 })).toMatchObject({ checkFailure: null });
    expect(await rotate(connector.id, 'ghp_ofAcme')).toMatchObject({ externalOrgId: 'acme-bot' });
  });

  it('400 · an installation of a GitHub App is refused if its id, key or permissions are wrong, and the error says why', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs1',
      format: 'pem',
    });
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    const noKey = 'githubApp.privateKey: must be the private key of the App: RSA in PEM, without a password.';
    const cases: [object, string][] = [
      [
        { privateKey: other },
        'credentials: GitHub rejected the credentials of the scm connector (Bad credentials): replace them.',
      ],
      [{ installationId: '8' }, 'credentials: The App 42 has no installation 8 on GitHub.'],
      [{ installationId: '8/access_tokens' }, 'githubApp.installationId: must be a number.'],
      [{ privateKey: 'no key' }, noKey],
      [{ privateKey: ec }, noKey],
    ];
    for (const [wrong, description] of cases) {
      expect(await connectVendor({ ...code, githubApp: { ...githubApp, ...wrong } })).toMatchObject({
        code: 'invalid_request',
        description,
      });
    }
    github.settings.app!.permissions = { contents: 'read', metadata: 'read' };
    expect(await connectVendor(code)).toMatchObject({
      description: 'credentials: The installation of the App lacks write permission for contents and pull_requests.',
    });
    github.settings.app!.isSuspended = true;
    expect(await connectVendor(code)).toMatchObject({
      description: 'credentials: GitHub has suspended the installation of the App.',
    });
    expect(await connectVendor({ ...code, credentials: 'ghp_ofAcme' })).toMatchObject({
      description: 'credentials: must be absent with githubApp.',
    });
    expect(await connectVendor({ vendor: 'linear', displayName: 'Linear', githubApp })).toMatchObject({
      description: 'githubApp: must be absent for linear.',
    });
    expect(await world.knex('integrations')).toEqual([]);
  });

  it('an installation of a GitHub App reads files and accesses git with a token that lasts an hour and is replaced before it expires', async () => {
    const { id } = await connectVendor(code);
    github.clear('acme/shop');
    github.settings.app = { appId: '42', installationId: '7', publicKey, permissions };
    github.repositories.get('acme/shop')!.files.set('main:a.txt', Buffer.from('A'));
    const project = await Project.get({ id: projectId as Id<'project'> });
    const read = async () => [
      (await readRepositoryFile(project, 'a.txt'))?.content,
      (await githubHost.access(project, await Integration.get({ id }))).password,
    ];
    const tokens = () => github.asked.filter((name) => name === 'apps/create-installation-access-token').length;
    const first = await read();
    expect(first).toEqual(['A', expect.stringMatching(/^ghs_/)]);
    world.clock.turn(minutes(44));
    expect([await read(), tokens()]).toEqual([first, 1]);
    world.clock.turn(minutes(2));
    expect([(await read())[1] === first[1], tokens()]).toEqual([false, 2]);
    world.clock.turn(minutes(46));
    github.settings.app.isSuspended = true;
    await expect(read()).rejects.toThrow(
      'GitHub rejected the installation of the App: This installation has been suspended',
    );
  });
});

describe('Linear applications', () => {
  const linearApp = { clientId: 'client-of-acme', clientSecret: 'lin_secret_ofAcme' };
  const agent = { vendor: 'linear', displayName: 'Agent', linearApp };
  const issued = () => linear.asked.filter((name) => name === 'oauth/token').length;
  beforeEach(() => {
    linear.settings.app = { ...linearApp };
  });
  afterEach(() => expect(linear.violations).toEqual([]));

  it('a Linear application is connected with its secret, which is stored sealed, and uses one token until Linear revokes it', async () => {
    const connector = await connectVendor(agent);
    expect(connector).toMatchObject({ externalOrgId: 'acme', hasCredentials: true, checkFailure: null });
    const row = () => world.knex('integrations').where({ id: connector.id }).first();
    expect(await act('check', connector.id)).toMatchObject({ checkFailure: null });
    const ofOneToken = issued();
    expect(await act('check', connector.id)).toMatchObject({ checkFailure: null });
    expect(issued()).toBe(ofOneToken);
    expect(JSON.stringify(await row())).not.toMatch(/lin_secret|lin_oauth/);
    linear.settings.authorization = 'Bearer lin_oauth_issuedElsewhere';
    expect(await act('check', connector.id)).toMatchObject({ checkFailure: null, brokenSince: null });
    expect(issued()).toBe(ofOneToken + 1);
    await world.knex('integrations').update({ tokenUntil: present() });
    await act('check', connector.id);
    expect(issued()).toBe(ofOneToken + 2);
    linear.settings.app!.clientSecret = 'lin_secret_rotated';
    linear.settings.authorization = 'Bearer of nobody';
    const failure = 'Linear rejected the credentials of the tracker connector (Invalid client): replace them.';
    expect(await act('check', connector.id)).toMatchObject({ checkFailure: failure });
    expect(await rotate(connector.id, 'lin_api_ofAcme')).toMatchObject({ code: 'invalid_request' });
    linear.settings.authorization = 'lin_api_ofAcme';
    expect(await rotate(connector.id, 'lin_api_ofAcme')).toMatchObject({ checkFailure: null });
    expect(await row()).toMatchObject({ sealedToken: null });
  });

  it('400 · a Linear application that Linear does not accept is refused with the reason', async () => {
    const wrong = { ...linearApp, clientSecret: 'lin_secret_ofGlobex' };
    expect(await connectVendor({ ...agent, linearApp: wrong })).toMatchObject({
      code: 'invalid_request',
      description:
        'credentials: Linear rejected the credentials of the tracker connector (Invalid client): replace them.',
    });
    expect(await connectVendor({ ...agent, credentials: 'lin_api_ofAcme' })).toMatchObject({
      description: 'credentials: must be absent with linearApp.',
    });
    expect(await connectVendor({ ...agent, vendor: 'github', vendorKind: 'tracker' })).toMatchObject({
      description: 'linearApp: must be absent for github.',
    });
    expect(await world.knex('integrations')).toEqual([]);
  });
});
