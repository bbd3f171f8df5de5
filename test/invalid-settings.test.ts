// Error messages of settings, which name every invalid one and repeat no secret.
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';

const key = Buffer.alloc(32, 7);

/** Messages of invalid settings, one line each; empty if all are valid. */
function complaints(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    const [first, ...lines] = (error as Error).message.split('\n');
    expect(first).toBe('These settings are invalid:');
    return lines.map((line) => line.trim());
  }
}

const pricesFormat = 'must be a JSON object: instance types with US dollars per minute';
const issuer = { issuer: 'https://id.example', displayName: 'Id' };
const issuers = (...list: unknown[]) => JSON.stringify(list);
const reachable = { SECRET_KEY: key.toString('base64') };

const origin = 'must be an http or https address without path, query or user';
const databaseUrl =
  'must be postgres://user:password@host:port/database, with host:port,host:port for several servers, special characters percent-encoded';
const secretKey = 'must be 32 bytes in base64, such as `openssl rand -base64 32` prints';
const sender = 'must be an email address, or a name followed by one in angle brackets';
const storage =
  'must be a file:// address, or s3://bucket/prefix with no other parameters than region, endpoint (an https address; http on loopback only) and path-style (on or off)';
const identifier = 'must be an https address without query or fragment (http on loopback only)';
const entry = 'must be an object with issuer and displayName, and at most jwksUri, clientIds and maySendEvents';

describe('Invalid settings', () => {
  it.each<[string, string, string]>([
    ['HOST', 'http://x', 'must be a host name or an IP address, without brackets or port'],
    ['HOST', 'localhost:4000', 'must be a host name or an IP address, without brackets or port'],
    ['HOST', '[::1]', 'must be a host name or an IP address, without brackets or port'],
    ['PORT', '0', 'must be an integer 1 to 65535'],
    ['PORT', '65536', 'must be an integer 1 to 65535'],
    ['PORT', '4000.5', 'must be an integer 1 to 65535'],
    ['PORT', '0x10', 'must be an integer 1 to 65535'],
    ['PORT', '1e3', 'must be an integer 1 to 65535'],
    ['PORT', '-1', 'must be an integer 1 to 65535'],
    ['PORT', '９', 'must be an integer 1 to 65535'],
    ['DATABASE_URL', 'mysql://db/app', databaseUrl],
    ['DATABASE_DIRECT_URL', 'mysql://db/app', databaseUrl],
    ['DATABASE_URL', 'db.example', databaseUrl],
    ['DATABASE_URL', 'postgres://db.example', databaseUrl],
    ['DATABASE_URL', 'postgres://u:p@db.example/', databaseUrl],
    ['DATABASE_URL', 'postgres://u:p@one,two:x/app', databaseUrl],
    ['DATABASE_URL', 'postgres://u:p@one,two/app?target_session_attrs=any', databaseUrl],
    ['DATABASE_URL', 'postgres://u:p#q@db.example/app', databaseUrl],
    ['DATABASE_POOL_MAX', '0', 'must be an integer 1 to 1000'],
    ['DATABASE_POOL_MAX', '1001', 'must be an integer 1 to 1000'],
    ['DATABASE_POOLER', 'statement', 'must be one of session, transaction'],
    ['DATABASE_DRIVER', 'pg', 'must be one of fast, plain'],
    ['V8_FLAGS', '0', 'must be one of on, off'],
    ['PUBLIC_URL', 'api.example', origin],
    ['PUBLIC_URL', 'ftp://api.example', origin],
    ['PUBLIC_URL', 'https://api.example/v1', origin],
    ['PUBLIC_URL', 'https://api.example?', origin],
    ['PUBLIC_URL', 'https://api.example#x', origin],
    ['PUBLIC_URL', 'https://u:p@api.example', origin],
    ['PUBLIC_URL', 'https:api.example', origin],
    ['PUBLIC_URL', 'https://api.example:99999', origin],
    ['ISSUER_URL', 'https://id.example/tenant', origin],
    ['MCP_URL', 'https://mcp.example/mcp', origin],
    ['A2A_URL', 'agents', 'must be an http or https address without query or user'],
    ['A2A_URL', 'https://agents.example/a2a?x', 'must be an http or https address without query or user'],
    ['SECRET_KEY', 'short', secretKey],
    ['SECRET_KEY', Buffer.alloc(31).toString('base64'), secretKey],
    ['SECRET_KEY', Buffer.alloc(33).toString('base64'), secretKey],
    ['SECRET_KEY', Buffer.alloc(32).toString('hex'), secretKey],
    ['SECRET_KEY', `${'A'.repeat(42)}!=`, secretKey],
    ['SMTP_URL', 'mail.example:25', 'must be smtp://user:password@host:port, or smtps://'],
    ['SMTP_URL', 'https://mail.example', 'must be smtp://user:password@host:port, or smtps://'],
    ['SMTP_URL', 'smtp://', 'must be smtp://user:password@host:port, or smtps://'],
    ['OPERATOR_EMAILS', 'ada@b.example; bob', 'must be up to 100 email addresses, separated by commas'],
    ['CONTACT_URL', 'http://b.example', 'must be an https or mailto address'],
    ['MAIL_FROM', 'nobody', sender],
    ['MAIL_FROM', 'Name <nobody>', sender],
    ['MAIL_FROM', 'Name\r\nBcc: x@y.z <a@b.c>', sender],
    ['CLAIM_GRANT_TYPE', 'claim', 'must be an absolute URI'],
    ['CLAIM_GRANT_TYPE', 'urn:a b', 'must be an absolute URI'],
    ['MISSION_MINUTES', '43201', 'must be an integer 1 to 43200'],
    ...['{', '[]', '1'].map((value): [string, string, string] => ['INSTANCE_PRICES', value, pricesFormat]),
    ['REGISTRATIONS_PER_HOUR', '0', 'must be an integer 1 to 1000000'],
    ['INVITES_PER_DAY', '0', 'must be an integer 1 to 1000000'],
    ['REQUESTS_PER_MINUTE', '10000001', 'must be an integer 1 to 10000000'],
    ['TRUST_PROXY', 'yes', 'must be one of on, off'],
    ['LOG_LEVEL', 'loud', 'must be one of trace, debug, info, warn, error, fatal, silent'],
    ['STORAGE_URL', '/srv/artifacts', storage],
    ['STORAGE_URL', 's3://bucket?versions=on', storage],
    ['STORAGE_URL', 's3://key:secret@bucket', storage],
    ['STORAGE_URL', 's3://bucket?endpoint=http://minio.example:9000', storage],
    ['STORAGE_URL', 's3://bucket?endpoint=minio.example', storage],
    ['LINEAR_API_URL', 'http://api.linear.example/graphql', identifier],
    ['LINEAR_API_URL', 'api.linear.example', identifier],
    ['GITHUB_API_URL', 'https://token@github.example', identifier],
    ['GITHUB_API_URL', 'https://github.example/?a=b', identifier],
    ['SCHEDULER', 'true', 'must be one of on, off'],
  ])('%s=%s is rejected', (name, value, complaint) => {
    expect(complaints({ [name]: value })).toEqual([`${name}: ${complaint}`]);
  });

  it.each(['-1', '0.0000001', '1001', '"1"'])('INSTANCE_PRICES={"lite": %s} is rejected', (price) => {
    expect(complaints({ INSTANCE_PRICES: `{"lite": ${price}}` })).toEqual([
      'INSTANCE_PRICES.lite: must be US dollars per minute: 0 to 1000, with up to 6 decimals',
    ]);
  });

  it.each<[string, string[]]>([
    ['not json', ['TRUSTED_ISSUERS: must be a JSON array']],
    ['{}', ['TRUSTED_ISSUERS: must be a JSON array']],
    ['null', ['TRUSTED_ISSUERS: must be a JSON array']],
    [issuers('https://id.example'), [`TRUSTED_ISSUERS[0]: ${entry}`]],
    [issuers({ ...issuer, keys: 'x' }), [`TRUSTED_ISSUERS[0]: ${entry}`]],
    [issuers(issuer, { displayName: 'x' }), [`TRUSTED_ISSUERS[1].issuer: ${identifier}`]],
    [issuers({ ...issuer, issuer: 'http://id.example' }), [`TRUSTED_ISSUERS[0].issuer: ${identifier}`]],
    [issuers({ ...issuer, issuer: 'http://localhost.example' }), [`TRUSTED_ISSUERS[0].issuer: ${identifier}`]],
    [issuers({ ...issuer, issuer: 'https://id.example?a=b' }), [`TRUSTED_ISSUERS[0].issuer: ${identifier}`]],
    [issuers({ ...issuer, issuer: 'https://id.example#' }), [`TRUSTED_ISSUERS[0].issuer: ${identifier}`]],
    [issuers({ ...issuer, jwksUri: 'http://id.example/keys' }), [`TRUSTED_ISSUERS[0].jwksUri: ${identifier}`]],
    [
      issuers({ ...issuer, displayName: '' }),
      ['TRUSTED_ISSUERS[0].displayName: must be a text of 1 to 120 characters'],
    ],
    [issuers({ ...issuer, clientIds: [] }), ['TRUSTED_ISSUERS[0].clientIds: must be a list of client ids']],
    [issuers({ ...issuer, clientIds: ['a', ''] }), ['TRUSTED_ISSUERS[0].clientIds[1]: must be a list of client ids']],
    [issuers({ ...issuer, maySendEvents: 'yes' }), ['TRUSTED_ISSUERS[0].maySendEvents: must be true or false']],
    [issuers(issuer, issuer), ['TRUSTED_ISSUERS: names an issuer twice']],
  ])('TRUSTED_ISSUERS=%s is rejected', (value, lines) => {
    expect(complaints({ TRUSTED_ISSUERS: value })).toEqual(lines);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'gateway.internal', '127.example'])(
    'HOST=%s requires a SECRET_KEY',
    (HOST) => {
      expect(complaints({ HOST })).toEqual([
        'SECRET_KEY: is required when HOST is not a loopback address; `openssl rand -base64 32` creates one',
      ]);
    },
  );

  it.each([
    { HOST: '0.0.0.0', ...reachable },
    { PUBLIC_URL: 'https://platform.example.com' },
    { ISSUER_URL: 'https://id.example.com' },
    { MCP_URL: 'http://192.168.0.7:4000' },
    { A2A_URL: 'https://a2a.example.com' },
    { PUBLIC_URL: 'http://localhost.example.com' },
    { LOCAL_RUNNER: 'off' },
  ])(
    'the settings %j start no local runner, because they let other machines reach the service, or switch the runner off',
    (settings) => {
      expect(readConfig(settings).localRunner).toBeNull();
      expect(readConfig({ HOST: '::1', PUBLIC_URL: 'http://127.0.0.1:4000', PATH: '/bin' }).localRunner).toMatchObject({
        PATH: '/bin',
      });
    },
  );

  it('the local runner process gets only its own settings', () => {
    const own = { PATH: '/bin', ANTHROPIC_API_KEY: 'key', CODEX_PROGRAM: '/opt/codex', ISOLATION: 'cell' };
    const env = { ...own, OPENAI_API_KEY: '', LOG_LEVEL: 'warn', DATA_DIR: '/srv/data', https_proxy: 'http://proxy' };
    const folders = { HARNESSES_DIR: '/srv/data/harnesses', DATA_DIR: '/srv/data' };
    const runner = { ...own, https_proxy: 'http://proxy', ...folders };
    expect(readConfig(env).localRunner).toEqual(runner);
    expect(readConfig({ ...env, HARNESSES_DIR: '/opt/h' }).localRunner).toEqual({ ...runner, HARNESSES_DIR: '/opt/h' });
  });

  it('upstream sign-in requires all three of its settings', () => {
    expect(complaints({ OIDC_ISSUER: 'http://id.example', OIDC_CLIENT_SECRET: 's' })).toEqual([
      'OIDC_CLIENT_ID: is required because another OIDC_ setting is given',
      `OIDC_ISSUER: ${identifier}`,
    ]);
  });

  it('Stripe requires both of its secrets, and its API URL may only be changed to a loopback address', () => {
    const secrets = { STRIPE_SECRET_KEY: 'sk_test_a1', STRIPE_WEBHOOK_SECRET: 'whsec_b2' };
    expect(readConfig(secrets).stripe).toEqual({
      secretKey: 'sk_test_a1',
      webhookSecret: 'whsec_b2',
      apiUrl: 'https://api.stripe.com',
    });
    const apiUrl = 'http://127.0.0.1:12111';
    expect(readConfig({ ...secrets, STRIPE_API_URL: apiUrl }).stripe).toMatchObject({ apiUrl });
    expect(complaints({ STRIPE_WEBHOOK_SECRET: 'pk_live_a1', STRIPE_API_URL: 'http://stripe.example/v1' })).toEqual([
      'STRIPE_SECRET_KEY: is required because another STRIPE_ setting is given',
      'STRIPE_WEBHOOK_SECRET: must be the signing secret of a webhook endpoint of Stripe, whsec_…',
      `STRIPE_API_URL: ${identifier}, and without path`,
    ]);
  });

  it('a cell has a name, a secret, and a list of cells that includes it', () => {
    const secret = 'a'.repeat(43);
    const cells = 'eu=https://eu.example, us=https://us.example/';
    expect(readConfig({ CELL_NAME: 'us', CELLS: cells, CELL_SECRET: secret }).cells).toEqual({
      name: 'us',
      secret,
      cells: new Map([
        ['eu', 'https://eu.example'],
        ['us', 'https://us.example'],
      ]),
    });
    expect(complaints({ CELL_NAME: 'mars', CELLS: cells, CELL_SECRET: secret })).toEqual([
      'CELLS: must include the cell of CELL_NAME',
    ]);
    const list = 'must be name=origin of up to 50 cells, separated by commas, such as eu=https://eu.example.com';
    for (const wrong of ['eu', 'eu=https://eu.example/v1', 'eu=https://a.example,eu=https://b.example'])
      expect(complaints({ CELL_NAME: 'EU', CELLS: wrong })).toEqual([
        'CELL_SECRET: is required because another CELL setting is given',
        'CELL_NAME: must be 1 to 32 lower-case letters, digits and inner hyphens',
        `CELLS: ${list}`,
      ]);
  });

  it('DATABASE_REPLICA_URL names one server and requires DATABASE_URL', () => {
    const one = 'must be postgres://user:password@host:port/database of one server, special characters percent-encoded';
    expect(complaints({ DATABASE_REPLICA_URL: 'postgres://u:p@one,two/app' })).toEqual([
      'DATABASE_REPLICA_URL: needs DATABASE_URL, because the embedded PostgreSQL has no standby',
      `DATABASE_REPLICA_URL: ${one}`,
    ]);
  });

  it('BACKUP_URL requires SECRET_KEY', () => {
    expect(complaints({ BACKUP_URL: 'ftp://backups.example', BACKUP_HOURS: '0', BACKUP_KEEP: '1001' })).toEqual([
      'BACKUP_URL: needs SECRET_KEY, which encrypts the backups and is not in them: keep the key elsewhere; DATA_DIR/secret-key has the present key',
      'BACKUP_URL: must be a file:// address, or s3://bucket/prefix with no other parameters than region, endpoint and path-style',
      'BACKUP_HOURS: must be an integer 1 to 720',
      'BACKUP_KEEP: must be an integer 1 to 1000',
    ]);
  });

  it('one message lists all invalid settings and repeats none of the values', () => {
    const secrets = {
      DATABASE_URL: 'postgres://root:hunter2@one,two/',
      SECRET_KEY: 'hunter2',
      SMTP_URL: 'http://u:hunter2@mail',
      TRUSTED_ISSUERS: '[{"issuer":"hunter2","hunter2":1}, hunter2]',
      OIDC_CLIENT_SECRET: 'hunter2',
      PORT: 'hunter2',
    };
    const lines = complaints(secrets);
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'PORT',
      'SECRET_KEY',
      'DATABASE_URL',
      'SMTP_URL',
      'TRUSTED_ISSUERS',
      'OIDC_ISSUER',
      'OIDC_CLIENT_ID',
    ]);
    expect(lines.join()).not.toContain('hunter2');
  });
});
