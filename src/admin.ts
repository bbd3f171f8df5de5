// The operator's command line: `npm run --silent admin -- COMMAND`. JSON on standard output; what is wrong on standard error,
// with exit code 1. It works beside a running service, and without one.
import { setTimeout as wait } from 'node:timers/promises';
import { bindAddresses } from '#foundation/addresses.ts';
import { database, openDatabase, sql } from '#foundation/database.ts';
import { databaseFault } from '#foundation/database-errors.ts';
import { type DatabaseConnection, findEmbeddedDatabase, startEmbeddedDatabase } from '#foundation/embedded/database.ts';
import { DatabaseInUse } from '#foundation/embedded/owner.ts';
import { scrub } from '#foundation/log.ts';
import { migrationStatus } from '#foundation/migrations.ts';
import { readOrMakeSecretKey } from '#foundation/secret-key.ts';
import { bindSecretKey } from '#foundation/secrets.ts';
import { openStorage } from '#foundation/storage.ts';
import { type Config, readConfig, SettingsError } from './config.ts';
import { contentsFolder, databaseHome, storageOf } from './services.ts';
import { type Command, helpOf, helpOfAll, type Place, readOptions } from './surfaces/operator/command.ts';
import { commands } from './surfaces/operator/commands.ts';

/** How the database knows this process. */
const ownName = `admin ${process.pid}`;

const [name = 'help', ...args] = process.argv.slice(2);
try {
  console.log(helpAskedFor() ?? JSON.stringify(await obey(name, args), null, 2));
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : scrub(wordsOf(error)));
  process.exitCode = 1;
}

/** `help`, `help COMMAND` and `COMMAND --help` need neither settings nor a database. */
function helpAskedFor(): string | null {
  const isHelp = (word: string | undefined) => word !== undefined && /^(help|--help|-h)$/.test(word);
  if (isHelp(name)) return args[0] === undefined ? helpOfAll(commands) : helpOf(args[0], commandNamed(args[0]));
  return args.some((word) => /^(--help|-h)$/.test(word)) ? helpOf(name, commandNamed(name)) : null;
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) && commands[name];
  if (!command) throw new Error(`There is no command ${name}: help lists those that are.`);
  return command;
}

async function obey(name: string, args: string[]): Promise<unknown> {
  const command = commandNamed(name);
  const options = readOptions(command, args);
  const config = readConfig();
  bindAddresses(config.addresses);
  const { place, leave } = await enter(config, command);
  try {
    if (command.needs === 'schema') await requireSchema();
    return await command.run(options, place);
  } finally {
    await leave();
  }
}

/** Opens what the command needs: the database of the settings, that of the running service, or the embedded one for a while. */
async function enter(config: Config, { needs }: Command): Promise<{ place: Place; leave: () => Promise<void> }> {
  const place = {
    dataDir: config.dataDir,
    databaseHome: databaseHome(config),
    contentsFolder: contentsFolder(config),
    ownSecretKey: config.secretKey === null,
    readInput,
  };
  if (needs === 'nothing') {
    return { place: { ...place, connection: '', data: undefined, inUse: false }, leave: async () => {} };
  }
  bindSecretKey(config.secretKey ?? (await readOrMakeSecretKey(config.dataDir)));
  openStorage(storageOf(config));
  const { leave, ...reached } = await reach(config);
  return { place: { ...place, ...reached }, leave };
}

interface Reached {
  connection: string | DatabaseConnection;
  data: string | undefined;
  inUse: boolean;
  leave: () => Promise<void>;
}

/** The embedded database may just be started or ended by another process: then once more. */
async function reach(config: Config): Promise<Reached> {
  for (let tries = 1; ; tries++) {
    try {
      return await (config.databaseUrl ? open(config, { connection: config.databaseUrl }) : openEmbedded(config));
    } catch (error) {
      const passing = error instanceof DatabaseInUse || /^(retry|unknown)$/.test(databaseFault(error) ?? '');
      if (config.databaseUrl || !passing || tries === 100) throw error;
      await wait(100);
    }
  }
}

async function openEmbedded(config: Config): Promise<Reached> {
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

async function open(config: Config, { connection, data, inUse = false, stop }: Found): Promise<Reached> {
  const own = typeof connection === 'string' ? connection : { ...connection, application_name: ownName };
  const knex = openDatabase({ connection: own, poolMax: 4, namedStatements: config.namedStatements });
  try {
    await knex.raw('select 1');
  } catch (error) {
    await knex.destroy();
    await stop?.();
    throw error;
  }
  const leave = async () => {
    if (stop) await lastToLeave();
    await knex.destroy();
    await stop?.();
  };
  return { connection, data, inUse, leave };
}

/** Other commands may have come to the database that this one has started: it ends with the last of them. */
async function lastToLeave(): Promise<void> {
  const others = `select count(*) as others from pg_stat_activity where backend_type = 'client backend' and application_name <> $1`;
  while ((await sql<{ others: number }>(others, [ownName]))[0]!.others > 0) await wait(50);
}

async function requireSchema(): Promise<void> {
  const { pending } = await migrationStatus(database());
  if (pending.length > 0) {
    throw new Error(
      `The database lacks ${pending.length} migrations: \`npm run --silent admin -- migrate\` brings them.`,
    );
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').trim();
}

/** An unreachable server is several errors, one for each of its addresses, under one without words. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && !error.message) return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
