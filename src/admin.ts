#!/usr/bin/env node
// The operator's command line: `npm run --silent admin -- COMMAND`. Prints JSON to standard output, errors to standard error with
// exit code 1. Works with and without a running service.
import { setTimeout as wait } from 'node:timers/promises';
import { bindBackupPlan } from '#domain/lifecycle/backups/state.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { bindCells } from '#foundation/http/cells.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { redact } from '#foundation/log.ts';
import { database, openDatabase, sql } from '#foundation/postgres/database.ts';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import {
  type DatabaseConnection,
  findEmbeddedDatabase,
  startEmbeddedDatabase,
} from '#foundation/postgres/embedded/database.ts';
import { DatabaseInUse } from '#foundation/postgres/embedded/owner.ts';
import { migrationStatus } from '#foundation/postgres/migrations.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { nameConnections } from '#foundation/postgres/pool.ts';
import { addressOfPrimary } from '#foundation/postgres/primary.ts';
import { readOrMakeSecretKey } from '#foundation/secrets/secret-key.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { type Config, readConfig, SettingsError } from './config.ts';
import { contentsFolder, databaseHome, servesOnlyThisMachine, storageOf, version } from './services.ts';
import {
  type Command,
  commandNamed,
  invocation,
  type Place,
  readOptions,
  requestedHelp,
} from './surfaces/operator/command.ts';
import { commands } from './surfaces/operator/commands.ts';

/** Names the connections of this process in pg_stat_activity. */
const ownName = `admin ${process.pid}`;

const [name = 'help', ...args] = process.argv.slice(2);
try {
  // The help and the version are printed without settings and without a database.
  const help = name === '--version' ? version : requestedHelp(commands, name, args);
  console.log(help ?? JSON.stringify(await run(name, args), null, 2));
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : redact(messageOf(error)));
  process.exitCode = 1;
}

async function run(name: string, args: string[]): Promise<unknown> {
  const command = commandNamed(commands, name);
  const options = readOptions(command, args);
  const config = readConfig();
  bindAddresses(config.addresses);
  bindCells(config.cells);
  openOutbound({ allowLoopback: servesOnlyThisMachine(config) });
  bindBackupPlan(config.backups);
  const { place, close } = await openPlace(config, command);
  try {
    if (command.needs === 'schema') await requireSchema();
    return await asService('operator', 'operator', name, () => command.run(options, place));
  } finally {
    await close();
  }
}

/**
 * Opens the resources of the command. The database is the configured one, else that of the running service, else the embedded one, which
 * then runs until the command ends.
 */
async function openPlace(config: Config, { needs }: Command): Promise<{ place: Place; close: () => Promise<void> }> {
  const place = {
    dataDir: config.dataDir,
    databaseHome: databaseHome(config),
    contentsFolder: contentsFolder(config),
    ownSecretKey: config.secretKey === null,
    secretKey: config.secretKey,
    backupUrl: config.backups?.url ?? null,
    version,
    readInput,
  };
  if (needs === 'nothing') {
    return { place: { ...place, connection: '', data: undefined, inUse: false }, close: async () => {} };
  }
  bindSecretKey(config.secretKey ?? (await readOrMakeSecretKey(config.dataDir)));
  openStorage(storageOf(config));
  const { close, ...opened } = await openAnyDatabase(config);
  return { place: { ...place, ...opened }, close };
}

interface OpenDatabase {
  connection: string | DatabaseConnection;
  data: string | undefined;
  inUse: boolean;
  close: () => Promise<void>;
}

/** Opens the database of the command, and retries while another process starts or stops the embedded database. */
async function openAnyDatabase(config: Config): Promise<OpenDatabase> {
  for (let tries = 1; ; tries++) {
    try {
      return await (config.databaseUrl ? openNamed(config, config.databaseUrl) : openEmbedded(config));
    } catch (error) {
      const isTemporary = error instanceof DatabaseInUse || /^(retry|unknown)$/.test(databaseErrorKind(error) ?? '');
      if (config.databaseUrl || !isTemporary || tries === 100) throw error;
      await wait(100);
    }
  }
}

/** The primary is looked up once: a command is short, so it keeps using the server that is the primary when it begins. */
async function openNamed(config: Config, url: string): Promise<OpenDatabase> {
  return open(config, { connection: await addressOfPrimary(url) });
}

async function openEmbedded(config: Config): Promise<OpenDatabase> {
  const home = databaseHome(config);
  const running = findEmbeddedDatabase(home);
  if (running) return open(config, { ...running, inUse: true });
  const { connection, data, stop } = await startEmbeddedDatabase({ home });
  return open(config, { connection, data, stop });
}

interface Found {
  connection: string | DatabaseConnection;
  data?: string;
  inUse?: boolean;
  stop?: () => Promise<void>;
}

async function open(config: Config, { connection, data, inUse = false, stop }: Found): Promise<OpenDatabase> {
  nameConnections(ownName);
  const knex = openDatabase({ connection, poolMax: 4, namedStatements: config.namedStatements });
  try {
    await knex.raw('select 1');
  } catch (error) {
    await knex.destroy();
    await stop?.();
    throw error;
  }
  const close = async () => {
    if (stop) await otherCommandsEnd();
    await knex.destroy();
    await stop?.();
  };
  return { connection, data, inUse, close };
}

/** Waits until no other command uses the embedded database that this command has started, because the database stops with this process. */
async function otherCommandsEnd(): Promise<void> {
  const others = `select count(*) as others from pg_stat_activity where backend_type = 'client backend' and application_name <> $1`;
  while ((await sql<{ others: number }>(others, [ownName]))[0]!.others > 0) await wait(50);
}

async function requireSchema(): Promise<void> {
  const { pending } = await migrationStatus(database());
  if (pending.length > 0) {
    throw new Error(`The database lacks ${pending.length} migrations: \`${invocation} migrate\` applies them.`);
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').trim();
}

/** For an unreachable server Node throws an AggregateError without a message, with one error per address. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
