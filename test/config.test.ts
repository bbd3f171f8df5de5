// The settings: their defaults, values at their limits, and the URLs that are derived from other URLs.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, readConfig } from '../src/config.ts';
import { servesOnlyThisMachine } from '../src/services.ts';

const key = Buffer.alloc(32, 7);

const logArchiveMs = 24 * 60 * 60 * 1_000;
const bounds = { maxMinutes: 1_440, maxModelCalls: 50_000, maxTokens: 1_000_000_000 };

describe('Defaults of the settings', () => {
  it('the service runs on loopback and needs no external service', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 4000,
      databaseUrl: null,
      databaseDirectUrl: null,
      databaseReplicaUrl: null,
      databasePoolMax: 16,
      namedStatements: true,
      databaseDriver: 'fast',
      dataDir: path.resolve('.data'),
      addresses: {
        baseHost: 'http://localhost:4000',
        issuer: 'http://localhost:4000',
        mcp: 'http://localhost:4000',
        a2a: 'http://localhost:4000/a2a',
      },
      secretKey: null,
      smtpUrl: null,
      contactUrl: null,
      operatorEmails: [],
      traceViewerUrl: null,
      mailFrom: 'no-reply@localhost',
      claimGrantType: 'urn:workos:agent-auth:grant-type:claim',
      trustedIssuers: [],
      vendorAddresses: { linear: 'https://api.linear.app/graphql', github: 'https://api.github.com' },
      registrationsPerHour: 60,
      invitesPerDay: 100,
      requestsPerMinute: 1_200,
      requestsPerMinuteOrganization: 12_000,
      requestsPerMinuteRuntime: 24_000,
      subscriptionsPerOrganization: 200,
      tokensPerPerson: 100,
      missions: { instancePrices: {}, bounds, logArchiveMs },
      trustProxy: false,
      logLevel: 'info',
      logFormat: null,
      tracing: { collector: null, genAi: 'stable', slowStatementMs: 2_000 },
      storageUrl: null,
      backups: null,
      upstreamSignIn: null,
      cells: null,
      stripe: null,
      scheduler: true,
      workers: 1,
      localRunner: { PATH: '', HARNESSES_DIR: path.resolve('.data/harnesses'), DATA_DIR: path.resolve('.data') },
    } satisfies Config);
  });

  it('an empty setting counts as absent', () => {
    const names = [
      'HOST',
      'PORT',
      'DATABASE_URL',
      'SECRET_KEY',
      'SMTP_URL',
      'TRUSTED_ISSUERS',
      'OIDC_ISSUER',
      'SCHEDULER',
    ];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ' '])))).toEqual(readConfig({}));
  });

  it('the configuration is frozen at every depth', () => {
    const issuers = JSON.stringify([{ issuer: 'https://id.example', displayName: 'Id', clientIds: ['a'] }]);
    const oidc = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
    const stripe = { STRIPE_SECRET_KEY: 'sk_live_a', STRIPE_WEBHOOK_SECRET: 'whsec_b' };
    const config = readConfig({ TRUSTED_ISSUERS: issuers, ...oidc, ...stripe });
    const [issuer] = config.trustedIssuers;
    for (const part of [
      config,
      config.addresses,
      config.trustedIssuers,
      config.vendorAddresses,
      issuer,
      issuer!.clientIds,
      config.upstreamSignIn,
      config.stripe,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});

const issuer = { issuer: 'https://id.example', displayName: 'Id' };
const issuers = (...list: unknown[]) => JSON.stringify(list);
const reachable = { SECRET_KEY: key.toString('base64') };

describe('Valid settings', () => {
  it.each<[NodeJS.ProcessEnv, Partial<Config>]>([
    [{ HOST: 'localhost' }, { host: 'localhost', secretKey: null }],
    [{ HOST: '127.8.9.10' }, { host: '127.8.9.10', secretKey: null }],
    [{ HOST: '::1' }, { host: '::1', secretKey: null }],
    [
      { HOST: '0.0.0.0', ...reachable },
      { host: '0.0.0.0', secretKey: key },
    ],
    [
      { HOST: '::', ...reachable },
      { host: '::', secretKey: key },
    ],
    [{ HOST: 'gateway.internal', ...reachable }, { host: 'gateway.internal' }],
    [{ SECRET_KEY: key.toString('base64url') }, { secretKey: key }],
    [{ PORT: '1' }, { port: 1 }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ DATABASE_URL: 'postgres://u:p@db.example/app' }, { databaseUrl: 'postgres://u:p@db.example/app' }],
    [
      { DATABASE_URL: 'postgres://u:p@one:5432,two/app?target_session_attrs=read-write' },
      { databaseUrl: 'postgres://u:p@one:5432,two/app?target_session_attrs=read-write' },
    ],
    [{ DATABASE_URL: 'postgresql:///app?host=/run/pg' }, { databaseUrl: 'postgresql:///app?host=/run/pg' }],
    [{ DATABASE_DIRECT_URL: 'postgres://u:p@db.example/app' }, { databaseDirectUrl: 'postgres://u:p@db.example/app' }],
    [
      { DATABASE_URL: 'postgres://u:p@one,two/app', DATABASE_REPLICA_URL: 'postgres://u:p@three/app' },
      { databaseUrl: 'postgres://u:p@one,two/app', databaseReplicaUrl: 'postgres://u:p@three/app' },
    ],
    [{ DATABASE_POOL_MAX: '1' }, { databasePoolMax: 1 }],
    [{ DATABASE_POOL_MAX: '1000' }, { databasePoolMax: 1_000 }],
    [{ DATABASE_POOLER: 'transaction' }, { namedStatements: false }],
    [{ DATABASE_POOLER: 'session' }, { namedStatements: true }],
    [{ DATABASE_DRIVER: 'plain' }, { databaseDriver: 'plain' }],
    [{ DATA_DIR: '/var/lib/aep' }, { dataDir: '/var/lib/aep' }],
    [{ SMTP_URL: 'smtp://u:p@mail.example:587' }, { smtpUrl: 'smtp://u:p@mail.example:587' }],
    [{ SMTP_URL: 'smtps://mail.example' }, { smtpUrl: 'smtps://mail.example' }],
    [{ OPERATOR_EMAILS: 'Ada@b.example , bob@b.example' }, { operatorEmails: ['ada@b.example', 'bob@b.example'] }],
    [{ CONTACT_URL: 'mailto:sales@b.example' }, { contactUrl: 'mailto:sales@b.example' }],
    [{ MAIL_FROM: 'a@b.example' }, { mailFrom: 'a@b.example' }],
    [{ MAIL_FROM: 'The Platform <a@b.example>' }, { mailFrom: 'The Platform <a@b.example>' }],
    [{ CLAIM_GRANT_TYPE: 'urn:example:claim' }, { claimGrantType: 'urn:example:claim' }],
    [{ REGISTRATIONS_PER_HOUR: '1' }, { registrationsPerHour: 1 }],
    [{ INVITES_PER_DAY: '1' }, { invitesPerDay: 1 }],
    [{ REQUESTS_PER_MINUTE_ORGANIZATION: '5' }, { requestsPerMinuteOrganization: 5 }],
    [{ REQUESTS_PER_MINUTE_RUNTIME: '5' }, { requestsPerMinuteRuntime: 5 }],
    [{ SUBSCRIPTIONS_PER_ORGANIZATION: '7' }, { subscriptionsPerOrganization: 7 }],
    [{ TOKENS_PER_PERSON: '9' }, { tokensPerPerson: 9 }],
    [{ INSTANCE_PRICES: '{"lite": 0.0005}' }, { missions: { instancePrices: { lite: 0.0005 }, bounds, logArchiveMs } }],
    [
      { MISSION_MINUTES: '60', MISSION_MODEL_CALLS: '500', MISSION_TOKENS: '2000000000' },
      {
        missions: {
          instancePrices: {},
          bounds: { maxMinutes: 60, maxModelCalls: 500, maxTokens: 2_000_000_000 },
          logArchiveMs,
        },
      },
    ],
    [{ LOG_ARCHIVE_HOURS: '0' }, { missions: { instancePrices: {}, bounds, logArchiveMs: 0 } }],
    [{ REQUESTS_PER_MINUTE: '10000000' }, { requestsPerMinute: 10_000_000 }],
    [{ TRUST_PROXY: 'on' }, { trustProxy: true }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [{ LOG_FORMAT: 'pretty' }, { logFormat: 'pretty' }],
    [{ LOG_FORMAT: 'json' }, { logFormat: 'json' }],
    [{ STORAGE_URL: 's3://bucket/prefix' }, { storageUrl: 's3://bucket/prefix' }],
    ...[
      's3://bucket?region=eu-central-1&endpoint=https://minio.example:9000&path-style=on',
      's3://bucket?endpoint=http://localhost:9000',
    ].map((value): [NodeJS.ProcessEnv, Partial<Config>] => [{ STORAGE_URL: value }, { storageUrl: value }]),
    [{ STORAGE_URL: 'file:///srv/artifacts' }, { storageUrl: 'file:///srv/artifacts' }],
    [
      { BACKUP_URL: 's3://bucket/backups', SECRET_KEY: key.toString('base64') },
      { secretKey: key, backups: { url: 's3://bucket/backups', intervalMs: 86_400_000, keep: 7 } },
    ],
    [
      { BACKUP_URL: 'file:///srv/backups', BACKUP_HOURS: '1', BACKUP_KEEP: '2', SECRET_KEY: key.toString('base64') },
      { secretKey: key, backups: { url: 'file:///srv/backups', intervalMs: 3_600_000, keep: 2 } },
    ],
    [{ SCHEDULER: 'off' }, { scheduler: false }],
    [
      { OIDC_ISSUER: 'https://id.example/tenant/', OIDC_CLIENT_ID: 'us', OIDC_CLIENT_SECRET: 's' },
      { upstreamSignIn: { issuer: 'https://id.example/tenant/', clientId: 'us', clientSecret: 's' } },
    ],
    [
      { LINEAR_API_URL: 'http://localhost:9000/graphql', GITHUB_API_URL: 'https://github.example/api/v3/' },
      { vendorAddresses: { linear: 'http://localhost:9000/graphql', github: 'https://github.example/api/v3' } },
    ],
    [{ TRUSTED_ISSUERS: '[]' }, { trustedIssuers: [] }],
    [{ TRUSTED_ISSUERS: issuers(issuer) }, { trustedIssuers: [issuer] }],
    [
      {
        TRUSTED_ISSUERS: issuers(
          { ...issuer, issuer: 'http://127.0.0.1:9000' },
          { ...issuer, issuer: 'http://localhost' },
        ),
      },
      {
        trustedIssuers: [
          { ...issuer, issuer: 'http://127.0.0.1:9000' },
          { ...issuer, issuer: 'http://localhost' },
        ],
      },
    ],
    [
      {
        TRUSTED_ISSUERS: issuers({
          ...issuer,
          jwksUri: 'https://id.example/keys',
          clientIds: ['a'],
          maySendEvents: true,
        }),
      },
      { trustedIssuers: [{ ...issuer, jwksUri: 'https://id.example/keys', clientIds: ['a'], maySendEvents: true }] },
    ],
  ])('%j is accepted', (env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });

  it('all URLs are derived from the public URL, normalized, without a trailing slash', () => {
    expect(readConfig({ PUBLIC_URL: 'HTTPS://API.Example:443/', PORT: '4100' }).addresses).toEqual({
      baseHost: 'https://api.example',
      issuer: 'https://api.example',
      mcp: 'https://api.example',
      a2a: 'https://api.example/a2a',
    });
    expect(readConfig({ PORT: '4100' }).addresses.baseHost).toBe('http://localhost:4100');
  });

  it('the base URL, the issuer and the URLs of MCP and A2A can be set separately', () => {
    const env = {
      PUBLIC_URL: 'https://api.example',
      ISSUER_URL: 'https://id.example/',
      MCP_URL: 'https://mcp.example:8443',
      A2A_URL: 'https://agents.example/talk/',
    };
    expect(readConfig(env).addresses).toEqual({
      baseHost: 'https://api.example',
      issuer: 'https://id.example',
      mcp: 'https://mcp.example:8443',
      a2a: 'https://agents.example/talk',
    });
    expect(readConfig(env).mailFrom).toBe('no-reply@api.example');
  });
});

describe('servesOnlyThisMachine', () => {
  const loopback = { PUBLIC_URL: 'http://localhost:4000', MCP_URL: 'http://127.0.0.1:4001' };

  it('servesOnlyThisMachine is true while every address is on loopback', () => {
    expect(servesOnlyThisMachine(readConfig({}))).toBe(true);
    expect(servesOnlyThisMachine(readConfig(loopback))).toBe(true);
  });

  it.each([
    ['PUBLIC_URL', 'https://platform.example'],
    ['ISSUER_URL', 'https://login.example'],
    ['MCP_URL', 'https://mcp.example'],
    ['A2A_URL', 'https://a2a.example/agents'],
    ['HOST', '0.0.0.0'],
  ])('servesOnlyThisMachine is false when %s is not a loopback address', (name, value) => {
    const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
    expect(servesOnlyThisMachine(readConfig({ ...loopback, SECRET_KEY, [name]: value }))).toBe(false);
  });
});
