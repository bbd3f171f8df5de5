// Opens what the surfaces use, such as the database, the storage and mail, and configures the foundation and the domains for this
// installation. Everything is closed in reverse order.
import { hostname } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindTrustedIssuers } from '#domain/identity/agent-identities/id-jag/issuers.ts';
import { bindTokenQuota } from '#domain/identity/tokens/operations.ts';
import { bindBackupPlan } from '#domain/lifecycle/backups/state.ts';
import { bindContactUrl } from '#domain/money/billing/catalog.ts';
import { bindPaymentProvider } from '#domain/money/billing/provider.ts';
import { bindInvitesPerDay } from '#domain/organization/invites/rate.ts';
import { bindOperators } from '#domain/organization/people/operators.ts';
import { bindInstancePrices } from '#domain/projects/instance-types/prices.ts';
import { bindMissionBounds } from '#domain/projects/sandbox-templates/mission-limits.ts';
import { bindVendorAddresses } from '#domain/projects/vendors/addresses.ts';
import { bindCheckLog } from '#domain/projects/vendors/check.ts';
import { bindTraceViewer } from '#domain/work/artifacts/address.ts';
import { bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { bindGenAiConventions } from '#domain/work/runs/gen-ai.ts';
import { bindAddresses, isLoopback } from '#foundation/http/addresses.ts';
import { bindCells } from '#foundation/http/cells.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Log, openLog } from '#foundation/log.ts';
import { openMail } from '#foundation/mail/mail.ts';
import { slowStatements, traceSpans } from '#foundation/metrics.ts';
import { releaseVersion } from '#foundation/package-folder.ts';
import { type Changes, openChanges } from '#foundation/postgres/changes.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { bindSlowStatements } from '#foundation/postgres/observed-statements.ts';
import { nameConnections } from '#foundation/postgres/pool.ts';
import { openReplica } from '#foundation/postgres/replica.ts';
import { serviceName } from '#foundation/postgres/server-figures.ts';
import { readOrMakeSecretKey } from '#foundation/secrets/secret-key.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { type BucketStorage, bucketStorage, readBucket } from '#foundation/storage/s3.ts';
import { openStorage, type Storage } from '#foundation/storage/storage.ts';
import { bindTracing, type Tracing } from '#foundation/tracing/tracing.ts';
import type { Config } from './config.ts';

export const version = releaseVersion;

export interface Services {
  log: Log;
  /** The embedded cluster; null with a DATABASE_URL. */
  embedded: { connection: DatabaseConnection; data: string } | null;
  changes: Changes;
  close(): Promise<void>;
}

export const databaseHome = (config: Config): string => path.join(config.dataDir, 'database');

/** The folder of the contents of artifacts; null when they are in a bucket. */
export function contentsFolder({ storageUrl, dataDir }: Pick<Config, 'storageUrl' | 'dataDir'>): string | null {
  if (storageUrl === null) return path.join(dataDir, 'artifacts');
  return storageUrl.startsWith('file:') ? fileURLToPath(storageUrl) : null;
}

/** Returns the storage of contents. If the storage is a bucket, this function does not check whether the bucket is available. */
export function storageOf(config: Config): Storage | BucketStorage {
  const folder = contentsFolder(config);
  return folder === null ? bucketStorage(readBucket(config.storageUrl!)!) : folderStorage(folder);
}

/** Checks a bucket in the background: everything except contents works without it, and it may become available later. */
function checkBucket(bucket: BucketStorage, log: Log): void {
  bucket.check().then(
    () => log.info('the bucket of STORAGE_URL is available'),
    (err) => log.error({ err }, 'the bucket of STORAGE_URL is unavailable: contents can neither be uploaded nor read'),
  );
}

/**
 * Whether only programs on this machine can reach the service, because all addresses of the service are loopback addresses. Only in this case
 * may identity providers, client documents and MCP servers have loopback addresses too: every caller of the service can reach these
 * addresses anyway (docs/contract.md#client-metadata-documents).
 */
export const servesOnlyThisMachine = ({ host, addresses }: Pick<Config, 'host' | 'addresses'>): boolean =>
  isLoopback(host) && Object.values(addresses).every((address) => isLoopback(new URL(address).hostname));

/** Maximum number of connections of the embedded server: one pool per process, but at least PostgreSQL's default of 100. */
const connectionsFor = ({ workers, databasePoolMax }: Config) => ({
  max_connections: Math.max(100, (workers + 1) * (databasePoolMax + 2)),
});

function bindDomain({ missions, ...config }: Config, log: Log): void {
  bindTrustedIssuers(config.trustedIssuers);
  bindVendorAddresses(config.vendorAddresses);
  bindCheckLog((line) => log.warn(line));
  bindInvitesPerDay(config.invitesPerDay);
  bindContactUrl(config.contactUrl);
  bindOperators(config.operatorEmails);
  bindBackupPlan(config.backups);
  bindTraceViewer(config.traceViewerUrl);
  bindTokenQuota(config.tokensPerPerson);
  bindInstancePrices(missions.instancePrices);
  bindMissionBounds(missions.bounds);
  bindLogArchives(missions.logArchiveMs);
}

/** OpenTelemetry's SDK is loaded only if a collector is configured. */
async function openTraces(
  { tracing: { collector, genAi, slowStatementMs } }: Config,
  log: Log,
): Promise<Tracing | null> {
  bindGenAiConventions(genAi);
  if (slowStatementMs > 0)
    bindSlowStatements(slowStatementMs, (statement) => {
      slowStatements.inc();
      log.warn(statement, 'slow statement');
    });
  if (collector === null) return null;
  const { openTracing } = await import('#foundation/tracing/sdk.ts');
  const report = (line: string) => log.warn(line);
  const count = (outcome: string, spans: number) => traceSpans.inc({ outcome }, spans);
  const opened = openTracing({ endpoint: collector, version, report, count });
  bindTracing(opened);
  return opened;
}

/** Opens everything that the surfaces use. `close` closes the embedded database last. */
export async function openServices(config: Config): Promise<Services> {
  const log = openLog({ level: config.logLevel, format: config.logFormat ?? undefined });
  bindAddresses(config.addresses);
  bindCells(config.cells);
  bindSecretKey(config.secretKey ?? (await readOrMakeSecretKey(config.dataDir)));
  openMail({ smtpUrl: config.smtpUrl ?? undefined, from: config.mailFrom, log: (line: string) => log.info(line) });
  const storage = storageOf(config);
  openStorage(storage);
  if ('check' in storage) checkBucket(storage, log);
  const traces = await openTraces(config, log);
  openOutbound({ allowLoopback: servesOnlyThisMachine(config) });
  bindDomain(config, log);
  // stripe.ts is imported only if Stripe is configured.
  if (config.stripe)
    bindPaymentProvider((await import('#domain/money/billing/stripe.ts')).stripeProvider(config.stripe));
  const embedded = config.databaseUrl
    ? null
    : await startEmbeddedDatabase({
        home: databaseHome(config),
        settings: connectionsFor(config),
        log: (line) => log.info(line),
      });
  nameConnections(`${serviceName}${version} ${process.pid}@${hostname()}`);
  const knex = openDatabase({
    connection: config.databaseUrl ?? embedded!.connection,
    poolMax: config.databasePoolMax,
    driver: config.databaseDriver,
    namedStatements: config.namedStatements,
    onError: (line) => log.warn(line),
  });
  const replica = config.databaseReplicaUrl
    ? openReplica({
        connection: config.databaseReplicaUrl,
        poolMax: config.databasePoolMax,
        driver: config.databaseDriver,
        report: (line) => log.warn(line),
      })
    : null;
  // LISTEN needs a dedicated connection, which a pooler in transaction mode does not provide.
  const listenConnection = config.namedStatements ? (config.databaseUrl ?? embedded!.connection) : null;
  const changes = openChanges({
    connection: config.databaseDirectUrl ?? listenConnection,
    onError: (line) => log.warn(line),
  });
  return {
    log,
    embedded,
    changes,
    async close() {
      await changes.close();
      await replica?.close();
      await knex.destroy();
      await embedded?.stop();
      await traces?.close();
    },
  };
}
