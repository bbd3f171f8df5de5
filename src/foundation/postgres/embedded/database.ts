// The embedded database: a PostgreSQL server as a child of this process, used without DATABASE_URL. The server ends with its parent;
// remains of a killed parent are cleaned up at the next start.
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type EmbeddedFiles,
  findPrograms,
  locateFiles,
  makePrivateFolder,
  moveIntoPlace,
  onWindows,
  readPassword,
} from './files.ts';
import { serves, takeOwnership } from './owner.ts';
import { type Cluster, endLeftOver, launch, readPidFile, run, type Server, stopServer } from './server.ts';

export interface DatabaseConnection {
  /** A host name, or the folder of a Unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
}

export interface EmbeddedDatabase {
  connection: DatabaseConnection;
  /** The data folder of the cluster, which a backup copies. */
  data: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface EmbeddedSettings {
  home: string;
  /** Further server parameters, such as `{ max_connections: 50 }`. */
  settings?: Record<string, string | number>;
  log?: (line: string) => void;
}

const user = 'app';
const database = 'agent_engineering_platform';

/** Starts the server of this folder and creates the cluster at the first start. Resolves when the server accepts connections. */
export async function startEmbeddedDatabase({
  home,
  settings,
  log = () => {},
}: EmbeddedSettings): Promise<EmbeddedDatabase> {
  const files = locateFiles(home, log);
  const release = await takeOwnership(files.folder);
  try {
    const cluster = await prepare(files, settings ?? {});
    const connection = connectionOf(files, cluster.port);
    if (!existsSync(files.data)) createCluster(cluster);
    await endLeftOver(cluster, log);
    const server = await launch(cluster);
    sweep(files.folder);
    return Object.assign(supervise(cluster, server, release, log), { connection, data: files.data });
  } catch (error) {
    release();
    throw error;
  }
}

/** The running server of this folder, whichever process owns it. Operator commands use it to reach the database of a running service. */
export function findEmbeddedDatabase(home: string): { connection: DatabaseConnection; data: string } | undefined {
  if (!existsSync(home)) return undefined;
  const files = locateFiles(home);
  const found = readPidFile(files.data);
  if (found?.status !== 'ready' || !serves(found.pid, files.data)) return undefined;
  return { connection: connectionOf(files, found.port), data: files.data };
}

const connectionOf = (files: EmbeddedFiles, port: number): DatabaseConnection => ({
  host: onWindows ? '127.0.0.1' : files.socket,
  port,
  user,
  password: readPassword(files),
  database,
});

async function prepare(files: EmbeddedFiles, settings: Record<string, string | number>): Promise<Cluster> {
  const programs = findPrograms(files);
  const port = onWindows ? await freePort() : 5432;
  return {
    files,
    port,
    program: (name) => path.join(programs, 'bin', onWindows ? `${name}.exe` : name),
    // A clean environment: the caller's PGDATA, LC_ALL and similar variables must not affect this server.
    as: { ...files.account, cwd: files.folder, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } },
    parameters: {
      // With Unix sockets no port is opened: no conflicts, and no access from outside.
      listen_addresses: onWindows ? '127.0.0.1' : '',
      unix_socket_directories: onWindows ? '' : `"${files.socket}"`,
      unix_socket_permissions: '0700',
      port,
      timezone: 'UTC',
      log_timezone: 'UTC',
      // The log of the server omits the errors of failed statements, because they would contain people's data. The service receives these
      // errors anyway.
      log_min_messages: 'log',
      log_checkpoints: 'off',
      ...settings,
    },
  };
}

/**
 * Removes remains of interrupted first starts and restores. It runs only after the server has started, so that an initdb that lost its
 * parent has time to end.
 */
function sweep(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => /^(data|password)\.new/.test(name))) {
    try {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    } catch {
      // The folder is still being written: the next start removes it.
    }
  }
}

/**
 * Creates the cluster under a temporary name and renames it, so that an interrupted start leaves no partial database. The name is new each
 * time, because the initdb of a killed process may still be writing.
 */
function createCluster({ files, program, as, parameters }: Cluster): void {
  const attempt = randomBytes(4).toString('hex');
  const newFolder = path.join(files.folder, `data.new-${attempt}`);
  const passwordCopy = path.join(files.folder, `password.new-${attempt}`);
  makePrivateFolder(newFolder, files.account);
  writeFileSync(passwordCopy, readPassword(files), { mode: 0o600 });
  if (files.account) chownSync(passwordCopy, files.account.uid, files.account.gid);
  const unsafe = parameters.fsync === 'off';
  try {
    // The built-in locale sorts identically on every platform, independent of the host's libraries.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const login = ['-U', user, '--pwfile', passwordCopy, '--auth=scram-sha-256'];
    const rest = ['--data-checksums', '--no-instructions', ...(unsafe ? ['--no-sync'] : [])];
    run(program('initdb'), ['-D', newFolder, ...login, ...locale, ...rest], as);
    const single = ['--single', '-D', newFolder, ...(unsafe ? ['-c', 'fsync=off'] : []), 'postgres'];
    run(program('postgres'), single, as, `create database ${database}\n`);
  } finally {
    rmSync(passwordCopy, { force: true });
  }
  moveIntoPlace(newFolder, files.data);
}

/** Keeps the server running until it is stopped, and restarts it after a crash (killed for lack of memory, for example). */
function supervise(cluster: Cluster, first: Server, release: () => void, log: (line: string) => void) {
  let server = first;
  let stopping = false;
  let revival: Promise<void> | undefined;
  const restartWhenEnded = async (): Promise<void> => {
    const how = await server.ended;
    if (stopping) return;
    log(`the embedded database ended unexpectedly (${how}): starting it again`);
    revival = revive(cluster, log)
      .then((revived) => {
        server = revived;
        void restartWhenEnded();
      })
      .catch((error) => log(`the embedded database could not be started again: ${error}`));
  };
  void restartWhenEnded();
  return {
    get pid() {
      return server.pid;
    },
    async stop() {
      stopping = true;
      await revival;
      await stopServer(cluster, server);
      rmSync(cluster.files.socket, { recursive: true, force: true });
      release();
    },
  };
}

/** The processes of a dead server need a moment to exit; until then a new server cannot start. */
async function revive(cluster: Cluster, log: (line: string) => void): Promise<Server> {
  for (let tries = 1; ; tries++) {
    try {
      await endLeftOver(cluster, log);
      return await launch(cluster);
    } catch (error) {
      if (tries === 50) throw error;
      await wait(200);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
