#!/usr/bin/env node
// The process: reads the settings, opens the services, listens, and shuts down on a signal. `start` also migrates the database,
// seeds the demo and starts the local runner.
import '#foundation/v8-flags.ts';
import cluster from 'node:cluster';
import type { Server } from 'node:http';
import { scheduledBackups } from '#domain/lifecycle/backups/scheduled.ts';
import { backupPlace } from '#foundation/backups/place.ts';
import { createHttpServer, prepareDrain } from '#foundation/http/http.ts';
import { startBackground } from '#foundation/jobs/background.ts';
import { redact } from '#foundation/log.ts';
import { mailboxAddress } from '#foundation/mail/mail.ts';
import { database } from '#foundation/postgres/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { asService } from '#foundation/postgres/origin.ts';
import { calledAs } from '#foundation/program.ts';
import { type RunningService, startWorkers } from '#foundation/workers.ts';
import { createApp } from './app.ts';
import { type Config, readConfig, SettingsError } from './config.ts';
import { welcome } from './demo/welcome.ts';
import { openFile } from './opened-file.ts';
import { contentsFolder, openServices, type Services, version } from './services.ts';
import { type LocalRunner, startLocalRunner } from './surfaces/operator/local-runner.ts';
import { deliveries } from './surfaces/scheduler/deliveries.ts';
import { type Job, jobs } from './surfaces/scheduler/jobs.ts';
import { startScheduler } from './surfaces/scheduler/surface.ts';

const command = process.argv[2] ?? 'serve';
if (/^(help|--help|-h)$/.test(command)) exitWith(help(), 0);
if (command === '--version') exitWith(version, 0);
if (command !== 'start' && command !== 'serve' && command !== 'open')
  exitWith(
    `There is no command ${command}. The commands are start (migrate, seed, serve), serve and open FILE; --help says more.`,
  );

try {
  await (command === 'open' ? openFile(process.argv.slice(3), { readConfig, openServices, serve }) : open());
} catch (error) {
  exitWith(error instanceof SettingsError ? error.message : redact((error as Error).message));
}

async function open(): Promise<void> {
  const config = readConfig();
  requireEmbedded(config);
  const services = await openServices(config);
  if (command === 'start') await migrate(database(), { warn: (line) => services.log.warn(line) });

  const starting =
    config.workers > 1 && cluster.isPrimary ? startWorkers(config.workers, services) : serve(config, services);
  const front = await starting.catch(async (error) => {
    await services.close();
    throw error;
  });
  const scheduler = config.scheduler ? startScheduler([...jobs, ...backupJobs(config, services)], services.log) : null;
  const background = config.scheduler ? startBackground(deliveries, { log: services.log }) : null;
  // The parent of all workers logs this line, so that it appears once.
  if (cluster.isPrimary) services.log.info({ host: config.host, port: config.port, version }, 'listening');

  let stopping = false;
  let runner: Promise<LocalRunner> | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(signal));
  if (command === 'start') {
    await startDemo().catch((error) => {
      // A shutdown may close the database during the seeding, so an error of the seeding is then expected.
      if (!stopping) throw error;
    });
  } else {
    const mailbox = mailboxAddress();
    // The URL is not logged, because it contains the secret of the mailbox.
    if (mailbox) console.error(`Development mailbox: ${mailbox}`);
  }

  async function startDemo(): Promise<void> {
    if (config.localRunner) runner = startLocalRunner(config.localRunner, services.log);
    await runner;
    // The welcome is printed last, below all log lines of the start.
    const { ANTHROPIC_API_KEY, OPENAI_API_KEY } = (config.localRunner ?? {}) as Record<string, string>;
    const seed = () => welcome(Boolean(ANTHROPIC_API_KEY || OPENAI_API_KEY));
    services.log.print(await asService('operator', 'operator', 'start', seed));
  }

  /** Finishes open requests, then closes everything. */
  async function stop(signal: string): Promise<void> {
    if (stopping) return;
    stopping = true;
    services.log.info({ signal }, 'stopping');
    // The runner is stopped first, so that it can still hand back its runs.
    await runner?.then(
      (started) => started.stop(),
      () => {},
    );
    await front.close();
    await Promise.all([scheduler?.stop(), background?.stop()]);
    await services.close();
    // The channel to the parent process is closed, because it would keep this worker process alive.
    cluster.worker?.disconnect();
  }
}

/**
 * Requires the embedded database if backups are scheduled. Worker processes check nothing, because their DATABASE_URL is the embedded server.
 * @throws SettingsError if backups are scheduled although DATABASE_URL names another server than the embedded one
 */
function requireEmbedded({ backups, databaseUrl }: Config): void {
  if (backups && databaseUrl && cluster.isPrimary)
    throw new SettingsError(
      'BACKUP_URL: supports only the embedded PostgreSQL; back up the server of DATABASE_URL with its own tools (docs/operate.md)',
    );
}

/** The scheduled backup job, which runs in the process that owns the embedded database. */
function backupJobs({ backups, dataDir, ...config }: Config, { embedded }: Services): Job[] {
  if (!backups || !embedded) return [];
  const place = backupPlace(backups.url);
  const source = { ...embedded, dataDir, contentsFolder: contentsFolder({ ...config, dataDir }), ownSecretKey: false };
  return [scheduledBackups({ ...source, version }, { ...backups, place })];
}

/** Serves requests in this process. */
async function serve(config: Config, services: Services): Promise<RunningService> {
  const server = createHttpServer(createApp({ ...config, version, log: services.log }));
  const drain = prepareDrain(server);
  await listen(server, config);
  // An unavailable database is reported at the start, not with the first request.
  void database()
    .raw('select 1')
    .catch(() => {});
  return {
    async close() {
      const drained = drain();
      // Ends the subscriptions; their clients reconnect to another process.
      await services.changes.close();
      await drained;
    },
  };
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(withHint(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function withHint(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const hints: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program: stop it, or set PORT to another number.`,
    EACCES: `Port ${port} needs privileges: set PORT to a number above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set HOST to one that is.`,
  };
  const hint = hints[error.code ?? ''];
  return hint ? new Error(hint) : error;
}

function help(): string {
  return `${calledAs('agent-engineering-platform', 'node --import tsx src/main.ts')} [COMMAND]

  serve      Serves. The default.
  start      Migrates the database, adds a demo to an empty one, serves, and starts a local runner on loopback.
  open FILE  Shows the organization of a file (org:pack) in the console of this machine, read-only and without a network.
             --passphrase-file FILE names the file of the passphrase; without it the passphrase is asked for.
  --version  Shows the release.
  --help     Shows this.

Settings are environment variables (docs/configuration.md), among them HOST, PORT, PUBLIC_URL and DATABASE_URL;
without DATABASE_URL an embedded PostgreSQL keeps its data in DATA_DIR.
agent-engineering-platform-admin help lists the commands for operators.`;
}

/** Prints only the message, because a stack does not help: the cause is a setting, a port or the database. */
function exitWith(message: string, code = 1): never {
  (code === 0 ? console.log : console.error)(message);
  process.exit(code);
}
