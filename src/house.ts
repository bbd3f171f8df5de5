// Opens the house: binds the foundation to one configuration, so that everything to the right of it can simply stand on it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindTrustedIssuers } from '#domain/agent-identities/id-jag/issuers.ts';
import { bindAddresses } from '#foundation/addresses.ts';
import { openDatabase } from '#foundation/database.ts';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/embedded-database.ts';
import { type Log, openLog } from '#foundation/log.ts';
import { openMail } from '#foundation/mail.ts';
import { openOutbound } from '#foundation/outbound.ts';
import { readOrMakeSecretKey } from '#foundation/secret-key.ts';
import { bindSecretKey } from '#foundation/secrets.ts';
import { folderStorage, openStorage, type Storage } from '#foundation/storage.ts';
import { type Config, isLoopback } from './config.ts';

export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export interface House {
  log: Log;
  /** Where the embedded cluster lives; null with a DATABASE_URL. */
  embedded: { connection: DatabaseConnection } | null;
  close(): Promise<void>;
}

export const databaseHome = (config: Config): string => path.join(config.dataDir, 'database');

/** Where the contents of artifacts are kept. @throws for an address of a kind that is not known */
function storageOf({ storageUrl, dataDir }: Config): Storage {
  if (storageUrl === null) return folderStorage(path.join(dataDir, 'artifacts'));
  if (storageUrl.startsWith('file:')) return folderStorage(fileURLToPath(storageUrl));
  throw new Error('STORAGE_URL: only file:// addresses are served');
}

/** Everything that stands below the surfaces. `close` gives it all back, the embedded database last. */
export async function openHouse(config: Config): Promise<House> {
  const log = openLog({ level: config.logLevel });
  bindAddresses(config.addresses);
  bindSecretKey(config.secretKey ?? (await readOrMakeSecretKey(config.dataDir)));
  openMail({ smtpUrl: config.smtpUrl ?? undefined, from: config.mailFrom, log: (line: string) => log.info(line) });
  openStorage(storageOf(config));
  // Providers and client documents on one's own machine are for one's own machine (agent authentication §9.3).
  openOutbound({ allowLoopback: isLoopback(config.host) });
  bindTrustedIssuers(config.trustedIssuers);
  const embedded = config.databaseUrl
    ? null
    : await startEmbeddedDatabase({ home: databaseHome(config), log: (line) => log.info(line) });
  const knex = openDatabase({
    connection: config.databaseUrl ?? embedded!.connection,
    poolMax: config.databasePoolMax,
    namedStatements: config.namedStatements,
    onError: (line) => log.warn(line),
  });
  return {
    log,
    embedded,
    async close() {
      await knex.destroy();
      await embedded?.stop();
    },
  };
}
