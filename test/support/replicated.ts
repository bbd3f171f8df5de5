// Two database servers from the bundled binaries: a primary with the migrated schema, and a standby that replicates it. By default, the
// primary acknowledges a write only when the standby has it. The folders of both servers are copies of one folder.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type DatabaseConnection, startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { type EmbeddedFiles, findPrograms, locateFiles } from '#foundation/postgres/embedded/files.ts';
import { launch, type Server } from '#foundation/postgres/embedded/server.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { openDatabase } from '../../src/foundation/postgres/database.ts';
import { careless, temporaryHome } from './global-setup.ts';
import { childrenOf, freePort, isRunning } from './processes.ts';

export interface DatabaseServer {
  /** Address of the server, `host:port`. */
  host: string;
  /** Promotes a standby, so that it accepts writes. */
  promote(): Promise<void>;
  /** Kills the server, as the loss of its machine would. */
  kill(): Promise<void>;
  /** Stops the server as if its machine were hanging; `thaw` resumes the server. */
  freeze(): void;
  thaw(): void;
  /** Restarts a killed server in its original role. */
  restart(): Promise<void>;
  query(text: string): Promise<Record<string, unknown>[]>;
}

export interface Replicated {
  primary: DatabaseServer;
  standby: DatabaseServer;
  /** A database URL that names both servers. */
  url: string;
  /** The database URL with the address of one of the servers. */
  urlOf(server: DatabaseServer): string;
  close(): Promise<void>;
}

let origin: { home: string; connection: DatabaseConnection; files: EmbeddedFiles } | undefined;

/** Creates a database folder with the migrated schema. `start` copies this folder for each of the two servers. */
async function prepare(): Promise<NonNullable<typeof origin>> {
  const home = temporaryHome();
  const { connection, stop } = await startEmbeddedDatabase({ home, settings: careless });
  const knex = openDatabase({ connection });
  await migrate(knex);
  await knex.destroy();
  await stop();
  return { home, connection, files: locateFiles(home) };
}

export async function openReplicated({ synchronous = true } = {}): Promise<Replicated> {
  origin ??= await prepare();
  const { connection } = origin;
  const login = `${connection.user}:${connection.password}`;
  const homes = [temporaryHome(), temporaryHome()] as const;
  const ports = await Promise.all([freePort(), freePort()]);
  const primary = await start(homes[0], ports[0]!, {
    // A write is acknowledged when the standby has it; otherwise a failover would lose writes, whatever the service does.
    ...(synchronous && { synchronous_standby_names: '*' }),
    synchronous_commit: 'on',
  });
  const source = `host=127.0.0.1 port=${ports[0]} user=${connection.user} password=${connection.password}`;
  const standby = await start(homes[1], ports[1]!, { primary_conninfo: `'${source}'` }, 'standby.signal');
  return {
    primary: primary.server,
    standby: standby.server,
    url: `postgres://${login}@${primary.server.host},${standby.server.host}/${connection.database}`,
    urlOf: ({ host }) => `postgres://${login}@${host}/${connection.database}`,
    async close() {
      await Promise.all([primary.server.kill(), standby.server.kill()]);
      for (const home of homes) rmSync(home, { recursive: true, force: true });
    },
  };
}

export function removeOrigin(): void {
  if (origin) rmSync(origin.home, { recursive: true, force: true });
  origin = undefined;
}

async function start(home: string, port: number, settings: Record<string, string>, marker?: string) {
  const { connection, files: source } = origin!;
  const files = { ...locateFiles(home), passwordFile: source.passwordFile };
  execFileSync('cp', ['-a', source.data, files.data]);
  if (marker) writeFileSync(path.join(files.data, marker), '');
  const { primary_conninfo, ...others } = settings;
  if (primary_conninfo) {
    writeFileSync(path.join(files.data, 'postgresql.auto.conf'), `primary_conninfo = ${primary_conninfo}\n`);
  }
  const programs = findPrograms(source);
  const run = (): Promise<Server> =>
    launch({
      files,
      port,
      program: (name) => path.join(programs, 'bin', name),
      as: { ...files.account, cwd: files.folder, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } },
      parameters: {
        ...careless,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        port,
        wal_receiver_timeout: '5s',
        ...others,
      },
    });
  let running = await run();
  const signal = (name: NodeJS.Signals) => {
    const { pid } = running;
    for (const one of isRunning(pid) ? [pid, ...childrenOf(pid)] : []) signalTo(one, name);
  };
  const server: DatabaseServer = {
    host: `127.0.0.1:${port}`,
    promote: async () => void (await server.query('select pg_promote()')),
    async kill() {
      signal('SIGKILL');
      await running.ended;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async restart() {
      rmSync(path.join(files.data, 'postmaster.pid'), { force: true });
      if (marker) writeFileSync(path.join(files.data, marker), '');
      running = await run();
    },
    async query(text) {
      const client = new pg.Client({ ...connection, host: '127.0.0.1', port });
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
  };
  return { server };
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in the meantime, so it needs no signal.
  }
}
