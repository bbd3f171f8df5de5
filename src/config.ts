// The environment, read once, checked and frozen (design decisions, section 11). Pure: it opens nothing and writes nothing.
// A complaint names the setting and what it must be, never what stood there: half of these values are secrets.
import { isIP } from 'node:net';
import path from 'node:path';
import { type Addresses, endpointOf, identifier, isIdentifier, isLoopback, originOf } from '#foundation/addresses.ts';
import { type LogFormat, logFormats } from '#foundation/log.ts';
import { readBucket } from '#foundation/storage-s3.ts';
import { type TrustedIssuer, trustedIssuers } from '#foundation/trusted-issuers.ts';
import { invitesPerDay, rates, subscriptions, tokens } from '#limits.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Null: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Past the pooler that `databaseUrl` names, for LISTEN. Null: there is none, or no other way. */
  readonly databaseDirectUrl: string | null;
  readonly databasePoolMax: number;
  /** False behind a pooler in transaction mode, which can't carry prepared statements. */
  readonly namedStatements: boolean;
  /** An absolute path. */
  readonly dataDir: string;
  readonly addresses: Readonly<Addresses>;
  /** 32 bytes. Null only on loopback: then one is made and kept in `dataDir`. */
  readonly secretKey: Buffer | null;
  /** Null: mail goes to the development mailbox. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly claimGrantType: string;
  readonly trustedIssuers: readonly Readonly<TrustedIssuer>[];
  /** Where the vendors of connectors are asked. */
  readonly vendorAddresses: Readonly<{ linear: string; github: string }>;
  /** Per source address. */
  readonly registrationsPerHour: number;
  /** Per organization. */
  readonly invitesPerDay: number;
  /** Per credential. */
  readonly requestsPerMinute: number;
  /** Of all credentials of an organization together. */
  readonly requestsPerMinuteOrganization: number;
  /** Open at once. */
  readonly subscriptionsPerOrganization: number;
  /** Live personal access tokens. */
  readonly tokensPerPerson: number;
  /** Whether a proxy of ours stands in front, whose entry in X-Forwarded-For is believed. */
  readonly trustProxy: boolean;
  readonly logLevel: LogLevel;
  /** Null: by whether standard output is a terminal. */
  readonly logFormat: LogFormat | null;
  /** Null: a folder in `dataDir`. */
  readonly storageUrl: string | null;
  readonly upstreamSignIn: Readonly<{ issuer: string; clientId: string; clientSecret: string }> | null;
  /** Whether this process lets time act (due schedules, sweeps) and does what is done in the background (mail). */
  readonly scheduler: boolean;
  /** What the runtime that `npm start` brings along gets of the environment; null: there is none. */
  readonly localRunner: Readonly<{ PATH: string }> | null;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const hostsOf = (addresses: Addresses): string[] =>
  Object.values(addresses).map((address) => new URL(address).hostname);

/** Its words name settings and never their values: they can be printed as they are. */
export class SettingsError extends Error {}

/** @throws one SettingsError that lists everything wrong, a line for each setting. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const wrong: string[] = [];

  /** An empty setting is an absent one: that is how compose files and shells write it. */
  const given = (name: string): string | null => env[name]?.trim() || null;

  /** What `read` makes of the setting; where it gives undefined, the setting is not what it `mustBe`. */
  function setting<T, F>(name: string, fallback: F, mustBe: string, read: (value: string) => T | undefined): T | F {
    const value = given(name);
    if (value === null) return fallback;
    const result = read(value);
    if (result !== undefined) return result;
    wrong.push(`${name}: must be ${mustBe}`);
    return fallback;
  }

  const integer = (name: string, fallback: number, { min, max }: { min: number; max: number }) =>
    setting(name, fallback, `an integer ${min} to ${max}`, (value) => within(value, min, max));
  const word = <const W extends string, F = W>(name: string, fallback: F, words: readonly W[]) =>
    setting(name, fallback, `one of ${words.join(', ')}`, (value) => words.find((candidate) => candidate === value));
  const origin = (name: string, fallback: string) =>
    setting(name, fallback, 'an http or https address without path, query or user', (value) => originOf(value));

  const vendorAddress = (name: string, fallback: string) =>
    setting(name, fallback, identifier, (value) => (isIdentifier(value) ? endpointOf(value) : undefined));

  const database = (name: string) =>
    setting(
      name,
      null,
      'postgres://user:password@host:port/database with one host, special characters percent-encoded',
      (value) => (isDatabaseUrl(value) ? value : undefined),
    );

  const host = setting('HOST', '127.0.0.1', 'a host name or an IP address, without brackets or port', (value) =>
    isIP(value) || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value) ? value : undefined,
  );
  const port = integer('PORT', 4000, { min: 1, max: 65_535 });
  const baseHost = origin('PUBLIC_URL', `http://localhost:${port}`);
  const addresses: Addresses = {
    baseHost,
    issuer: origin('ISSUER_URL', baseHost),
    mcp: origin('MCP_URL', baseHost),
    a2a: setting('A2A_URL', `${baseHost}/a2a`, 'an http or https address without query or user', endpointOf),
  };

  const secretKey = setting(
    'SECRET_KEY',
    null,
    '32 bytes in base64, such as `openssl rand -base64 32` prints',
    (value) => (/^[A-Za-z0-9+/_-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : undefined),
  );
  if (!given('SECRET_KEY') && !isLoopback(host)) {
    wrong.push('SECRET_KEY: is required when HOST is not a loopback address; `openssl rand -base64 32` makes one');
  }

  const config: Config = {
    host,
    port,
    databaseUrl: database('DATABASE_URL'),
    databaseDirectUrl: database('DATABASE_DIRECT_URL'),
    databasePoolMax: integer('DATABASE_POOL_MAX', 16, { min: 1, max: 1_000 }),
    namedStatements: word('DATABASE_POOLER', 'session', ['session', 'transaction']) === 'session',
    dataDir: path.resolve(given('DATA_DIR') ?? '.data'),
    addresses: Object.freeze(addresses),
    secretKey,
    smtpUrl: setting('SMTP_URL', null, 'smtp://user:password@host:port, or smtps://', (value) =>
      hasProtocol(value, 'smtp:', 'smtps:') && new URL(value).hostname ? value : undefined,
    ),
    mailFrom: setting(
      'MAIL_FROM',
      `no-reply@${new URL(baseHost).hostname}`,
      'a mail address, or a name followed by one in angle brackets',
      (value) => (isSender(value) ? value : undefined),
    ),
    claimGrantType: setting('CLAIM_GRANT_TYPE', 'urn:workos:agent-auth:grant-type:claim', 'an absolute URI', (value) =>
      /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/.test(value) && !/["\\]/.test(value) ? value : undefined,
    ),
    trustedIssuers: trustedIssuers(given('TRUSTED_ISSUERS'), wrong),
    vendorAddresses: Object.freeze({
      linear: vendorAddress('LINEAR_API_URL', 'https://api.linear.app/graphql'),
      github: vendorAddress('GITHUB_API_URL', 'https://api.github.com'),
    }),
    registrationsPerHour: integer('REGISTRATIONS_PER_HOUR', rates.registrationsPerHour, { min: 1, max: 1_000_000 }),
    invitesPerDay: integer('INVITES_PER_DAY', invitesPerDay.organization, { min: 1, max: 1_000_000 }),
    requestsPerMinute: integer('REQUESTS_PER_MINUTE', rates.requestsPerMinute, { min: 1, max: 10_000_000 }),
    requestsPerMinuteOrganization: integer('REQUESTS_PER_MINUTE_ORGANIZATION', rates.requestsPerMinuteOrganization, {
      min: 1,
      max: 100_000_000,
    }),
    subscriptionsPerOrganization: integer('SUBSCRIPTIONS_PER_ORGANIZATION', subscriptions.perOrganization, {
      min: 1,
      max: subscriptions.perProcess,
    }),
    tokensPerPerson: integer('TOKENS_PER_PERSON', tokens.perPerson, { min: 1, max: 10_000 }),
    trustProxy: word('TRUST_PROXY', 'off', ['on', 'off']) === 'on',
    logLevel: word('LOG_LEVEL', 'info', logLevels),
    logFormat: word<LogFormat, null>('LOG_FORMAT', null, logFormats),
    storageUrl: setting('STORAGE_URL', null, storageAddress, (value) =>
      hasProtocol(value, 'file:') || isBucket(value) ? value : undefined,
    ),
    upstreamSignIn: upstreamSignIn(),
    scheduler: word('SCHEDULER', 'on', ['on', 'off']) === 'on',
    // It executes what people with the right scopes write: only where nobody but this machine reaches the service.
    localRunner:
      word('LOCAL_RUNNER', 'on', ['on', 'off']) === 'on' && [host, ...hostsOf(addresses)].every(isLoopback)
        ? Object.freeze({ PATH: env.PATH ?? '' })
        : null,
  };
  if (wrong.length > 0)
    throw new SettingsError(`These settings are invalid:\n${wrong.map((line) => `  ${line}`).join('\n')}`);
  return Object.freeze(config);

  function upstreamSignIn(): Config['upstreamSignIn'] {
    const names = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;
    const missing = names.filter((name) => given(name) === null);
    if (missing.length === names.length) return null;
    for (const name of missing) wrong.push(`${name}: is required because another OIDC_ setting is given`);
    const issuer = setting('OIDC_ISSUER', '', identifier, (value) => (isIdentifier(value) ? value : undefined));
    const [clientId, clientSecret] = [given('OIDC_CLIENT_ID') ?? '', given('OIDC_CLIENT_SECRET') ?? ''];
    return Object.freeze({ issuer, clientId, clientSecret });
  }
}

function within(value: string, min: number, max: number): number | undefined {
  const n = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  return n >= min && n <= max ? n : undefined;
}

const hasProtocol = (value: string, ...protocols: string[]): boolean =>
  URL.canParse(value) && protocols.includes(new URL(value).protocol);

const storageAddress =
  'a file:// address, or s3://bucket/prefix with no other parameters than region, endpoint (an https address; http on loopback only) and path-style (on or off)';

function isBucket(value: string): boolean {
  const bucket = readBucket(value);
  return bucket !== null && (bucket.endpoint === undefined || isIdentifier(bucket.endpoint));
}

/** The driver can't try several hosts; whoever has several puts a proxy or a pooler in front. */
function isDatabaseUrl(value: string): boolean {
  if (!hasProtocol(value, 'postgres:', 'postgresql:')) return false;
  const { hostname, pathname } = new URL(value);
  return !hostname.includes(',') && pathname.length > 1;
}

const isSender = (value: string): boolean => {
  const [, address] = /^[^<>\r\n]*<([^<>]+)>$/.exec(value) ?? [null, value];
  return /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(address!);
};
