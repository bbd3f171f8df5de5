// Reads the settings from the environment into one frozen Config (docs/decisions/0033-settings-fail-together.md). Pure: opens and writes
// nothing. An error names the setting and its required format, never its value: half of the values are secrets.
import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { type Addresses, isLoopback } from '#foundation/http/addresses.ts';
import { type TrustedIssuer, trustedIssuers } from '#foundation/http/trusted-issuers.ts';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '#foundation/log.ts';
import { type Driver, drivers } from '#foundation/postgres/drivers.ts';
import { type BackupConfig, backupSettings, backupsOf, needsSecretKey } from '#foundation/settings/backup-settings.ts';
import { type MissionSettings, missionSettings, missionSettingsOf } from '#foundation/settings/mission-settings.ts';
import { linesOf, readGroups, runnerSettings, type SettingGroups } from '#foundation/settings/setting-groups.ts';
import {
  databaseAddress,
  emailAddresses,
  endpoint,
  hasProtocol,
  integer,
  isSender,
  isStorage,
  matching,
  oneOf,
  origin,
  parsedSetting,
  replica,
  replicaNeedsDatabase,
  vendorAddress,
  workers,
} from '#foundation/settings/setting-values.ts';
import { type TracingConfig, tracingOf, tracingSettings } from '#foundation/settings/tracing-settings.ts';
import { invitesPerDay, rates, subscriptions, tokens } from '#limits.ts';

export interface Config extends SettingGroups {
  readonly host: string;
  readonly port: number;
  /** Connection string of the database; null means the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Direct address of the database for LISTEN, which does not work through the pooler at `databaseUrl`. Null when there is no pooler. */
  readonly databaseDirectUrl: string | null;
  /** A standby for reads. Null means none. */
  readonly databaseReplicaUrl: string | null;
  readonly databasePoolMax: number;
  /** Whether statements are prepared: false behind a pooler in transaction mode, which does not support prepared statements. */
  readonly namedStatements: boolean;
  /** Driver of the database; `plain` uses only pg's public interfaces (src/foundation/postgres/README.md). */
  readonly databaseDriver: Driver;
  /** Absolute path of the folder for all data of the installation. */
  readonly dataDir: string;
  readonly addresses: Readonly<Addresses>;
  /** The secret key, 32 bytes. Null only on loopback: a key is then generated and stored in `dataDir`. */
  readonly secretKey: Buffer | null;
  /** The mail server; null means that mail goes to the development mailbox. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly contactUrl: string | null;
  /** Email addresses of people who may see the page of the installation. */
  readonly operatorEmails: readonly string[];
  readonly traceViewerUrl: string | null;
  readonly claimGrantType: string;
  readonly trustedIssuers: readonly Readonly<TrustedIssuer>[];
  readonly vendorAddresses: Readonly<{ linear: string; github: string }>;
  readonly registrationsPerHour: number;
  readonly invitesPerDay: number;
  readonly requestsPerMinute: number;
  readonly requestsPerMinuteOrganization: number;
  readonly requestsPerMinuteRuntime: number;
  readonly subscriptionsPerOrganization: number;
  readonly tokensPerPerson: number;
  readonly missions: MissionSettings;
  /** Whether a trusted proxy forwards requests. If so, the client's address is the one that the proxy has added to X-Forwarded-For. */
  readonly trustProxy: boolean;
  readonly logLevel: LogLevel;
  readonly tracing: TracingConfig;
  /** Format of the log; null means text if standard output is a terminal, JSON otherwise. */
  readonly logFormat: LogFormat | null;
  /** Bucket of the storage; null means a folder in `dataDir`. */
  readonly storageUrl: string | null;
  /** Scheduled backups of the embedded database; null means none. */
  readonly backups: BackupConfig | null;
  /** Whether this process runs scheduled jobs (due missions, sweeps) and background jobs (mail). */
  readonly scheduler: boolean;
  /** Number of processes that serve one port. With more than 1, this process starts them and serves no requests itself. */
  readonly workers: number;
  /** The environment of the runtime that `npm start` starts; null means that none is started. */
  readonly localRunner: Readonly<{ PATH: string } & Record<string, string>> | null;
}

/** Every setting, in the order of the error list. Defaults that depend on another setting are in `configOf`. */
export const settings = z.object({
  HOST: matching(
    'a host name or an IP address, without brackets or port',
    (value) => isIP(value) > 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value),
  ).default('127.0.0.1'),
  PORT: integer(1, 65_535).default(4000),
  PUBLIC_URL: origin,
  ISSUER_URL: origin,
  MCP_URL: origin,
  A2A_URL: endpoint,
  SECRET_KEY: parsedSetting('32 bytes in base64, such as `openssl rand -base64 32` prints', (value) =>
    /^[A-Za-z0-9+/_-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : undefined,
  ).optional(),
  DATABASE_URL: databaseAddress,
  DATABASE_DIRECT_URL: databaseAddress,
  DATABASE_REPLICA_URL: replica,
  DATABASE_POOL_MAX: integer(1, 1_000).default(16),
  DATABASE_POOLER: oneOf(['session', 'transaction']).default('session'),
  DATABASE_DRIVER: oneOf(drivers).default('fast'),
  // This setting is only validated here: v8-flags.ts applies it before this file is loaded.
  V8_FLAGS: oneOf(['on', 'off']).default('on'),
  DATA_DIR: z.string().default('.data'),
  SMTP_URL: matching(
    'smtp://user:password@host:port, or smtps://',
    (value) => hasProtocol(value, 'smtp:', 'smtps:') && new URL(value).hostname !== '',
  ).optional(),
  MAIL_FROM: matching('an email address, or a name followed by one in angle brackets', isSender).optional(),
  CONTACT_URL: matching('an https or mailto address', (it) => /^(https:\/\/|mailto:\S+@)\S+$/.test(it)).optional(),
  OPERATOR_EMAILS: emailAddresses.default(Object.freeze([])),
  CLAIM_GRANT_TYPE: matching(
    'an absolute URI',
    (value) => /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/.test(value) && !/["\\]/.test(value),
  ).default('urn:workos:agent-auth:grant-type:claim'),
  TRUSTED_ISSUERS: trustedIssuers.default(Object.freeze([])),
  TRACE_VIEWER_URL: endpoint,
  LINEAR_API_URL: vendorAddress.default('https://api.linear.app/graphql'),
  GITHUB_API_URL: vendorAddress.default('https://api.github.com'),
  REGISTRATIONS_PER_HOUR: integer(1, 1_000_000).default(rates.registrationsPerHour),
  INVITES_PER_DAY: integer(1, 1_000_000).default(invitesPerDay.organization),
  REQUESTS_PER_MINUTE: integer(1, 10_000_000).default(rates.requestsPerMinute),
  REQUESTS_PER_MINUTE_ORGANIZATION: integer(1, 100_000_000).default(rates.requestsPerMinuteOrganization),
  REQUESTS_PER_MINUTE_RUNTIME: integer(1, 100_000_000).default(rates.requestsPerMinuteRuntime),
  SUBSCRIPTIONS_PER_ORGANIZATION: integer(1, subscriptions.perProcess).default(subscriptions.perOrganization),
  TOKENS_PER_PERSON: integer(1, 10_000).default(tokens.perPerson),
  ...missionSettings,
  TRUST_PROXY: oneOf(['on', 'off']).default('off'),
  LOG_LEVEL: oneOf(logLevels).default('info'),
  LOG_FORMAT: oneOf(logFormats).optional(),
  ...tracingSettings,
  STORAGE_URL: matching(
    'a file:// address, or s3://bucket/prefix with no other parameters than region, endpoint (an https address; http on loopback only) and path-style (on or off)',
    isStorage,
  ).optional(),
  ...backupSettings,
  SCHEDULER: oneOf(['on', 'off']).default('on'),
  WORKERS: workers.default(1),
  LOCAL_RUNNER: oneOf(['on', 'off']).default('on'),
});

/** Error that lists invalid settings. The message never contains a value, because values may be secret. */
export class SettingsError extends Error {}

/** Reads the settings. @throws one SettingsError that lists every invalid setting, one per line. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  // An empty setting counts as absent, because compose files and shells write absent ones that way.
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const { data, error } = settings.safeParse(set);
  const host = settings.shape.HOST.safeParse(set.HOST).data;
  const groups = readGroups(set);
  const errors = [
    ...(host !== undefined && !isLoopback(host) && !set.SECRET_KEY
      ? ['SECRET_KEY: is required when HOST is not a loopback address; `openssl rand -base64 32` creates one']
      : []),
    ...(data && data.WORKERS > 1 && !data.SMTP_URL
      ? ['WORKERS: more than 1 needs SMTP_URL, because the development mailbox is in the memory of one process']
      : []),
    ...(set.DATABASE_REPLICA_URL && !set.DATABASE_URL ? [replicaNeedsDatabase] : []),
    ...(set.BACKUP_URL && !set.SECRET_KEY ? [needsSecretKey] : []),
    ...linesOf(error?.issues),
    ...groups.errors,
  ];
  if (errors.length > 0)
    throw new SettingsError(`These settings are invalid:\n${errors.map((line) => `  ${line}`).join('\n')}`);
  return configOf(data!, groups.values, runnerSettings(env, path.resolve(data!.DATA_DIR)));
}

function configOf(
  set: z.infer<typeof settings>,
  groups: SettingGroups,
  runnerEnvironment: { PATH: string },
): Readonly<Config> {
  const baseHost = set.PUBLIC_URL ?? `http://localhost:${set.PORT}`;
  const addresses: Addresses = {
    baseHost,
    issuer: set.ISSUER_URL ?? baseHost,
    mcp: set.MCP_URL ?? baseHost,
    a2a: set.A2A_URL ?? `${baseHost}/a2a`,
  };
  const hosts = [set.HOST, ...Object.values(addresses).map((address) => new URL(address).hostname)];
  return Object.freeze({
    host: set.HOST,
    port: set.PORT,
    databaseUrl: set.DATABASE_URL ?? null,
    databaseDirectUrl: set.DATABASE_DIRECT_URL ?? null,
    databaseReplicaUrl: set.DATABASE_REPLICA_URL ?? null,
    databasePoolMax: set.DATABASE_POOL_MAX,
    namedStatements: set.DATABASE_POOLER === 'session',
    databaseDriver: set.DATABASE_DRIVER,
    dataDir: path.resolve(set.DATA_DIR),
    addresses: Object.freeze(addresses),
    secretKey: set.SECRET_KEY ?? null,
    smtpUrl: set.SMTP_URL ?? null,
    contactUrl: set.CONTACT_URL ?? null,
    operatorEmails: set.OPERATOR_EMAILS,
    traceViewerUrl: set.TRACE_VIEWER_URL ?? null,
    mailFrom: set.MAIL_FROM ?? `no-reply@${new URL(baseHost).hostname}`,
    claimGrantType: set.CLAIM_GRANT_TYPE,
    trustedIssuers: set.TRUSTED_ISSUERS,
    vendorAddresses: Object.freeze({ linear: set.LINEAR_API_URL, github: set.GITHUB_API_URL }),
    registrationsPerHour: set.REGISTRATIONS_PER_HOUR,
    invitesPerDay: set.INVITES_PER_DAY,
    requestsPerMinute: set.REQUESTS_PER_MINUTE,
    requestsPerMinuteOrganization: set.REQUESTS_PER_MINUTE_ORGANIZATION,
    requestsPerMinuteRuntime: set.REQUESTS_PER_MINUTE_RUNTIME,
    subscriptionsPerOrganization: set.SUBSCRIPTIONS_PER_ORGANIZATION,
    tokensPerPerson: set.TOKENS_PER_PERSON,
    missions: missionSettingsOf(set),
    trustProxy: set.TRUST_PROXY === 'on',
    logLevel: set.LOG_LEVEL,
    tracing: tracingOf(set),
    logFormat: set.LOG_FORMAT ?? null,
    storageUrl: set.STORAGE_URL ?? null,
    backups: backupsOf(set),
    ...groups,
    scheduler: set.SCHEDULER === 'on',
    workers: set.WORKERS,
    // People who have the required scopes can make the local runner execute their scripts. The runner therefore starts only if the service
    // can be reached from this machine only.
    localRunner: set.LOCAL_RUNNER === 'on' && hosts.every(isLoopback) ? Object.freeze(runnerEnvironment) : null,
  });
}
