// The process: config → house → app → listen → leave politely. `start` also brings the schema and a demo organization.
import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { startBackground } from '#foundation/background.ts';
import { seconds } from '#foundation/clock.ts';
import { database } from '#foundation/database.ts';
import { createHttpServer } from '#foundation/http.ts';
import { scrub } from '#foundation/log.ts';
import { mailboxAddress } from '#foundation/mail.ts';
import { migrate } from '#foundation/migrations.ts';
import { createApp } from './app.ts';
import { type Config, readConfig, SettingsError } from './config.ts';
import { welcome } from './demo/welcome.ts';
import { openServices, version } from './services.ts';
import { type LocalRunner, startLocalRunner } from './surfaces/operator/local-runner.ts';
import { deliveries } from './surfaces/scheduler/deliveries.ts';
import { jobs } from './surfaces/scheduler/jobs.ts';
import { startScheduler } from './surfaces/scheduler/surface.ts';

// Rows live as long as their request. V8 takes those of a busy moment for lasting and then puts all of their kind where only
// a full collection frees them: without that guess a page of 100 costs a third less CPU (bench/README.md).
setFlagsFromString('--no-allocation-site-pretenuring');

const command = process.argv[2] ?? 'serve';
if (command !== 'start' && command !== 'serve')
  refuse(`Unknown command ${command}: say start (migrate, seed, serve) or serve.`);

try {
  await open();
} catch (error) {
  refuse(error instanceof SettingsError ? error.message : scrub((error as Error).message));
}

async function open(): Promise<void> {
  const config = readConfig();
  const house = await openServices(config);
  if (command === 'start') await migrate(database());

  const server = createHttpServer(createApp({ ...config, version, log: house.log }));
  await listen(server, config).catch(async (error) => {
    await house.close();
    throw error;
  });
  const scheduler = config.scheduler ? startScheduler(jobs, house.log) : null;
  const background = config.scheduler ? startBackground(deliveries, { log: house.log }) : null;
  house.log.info({ host: config.host, port: config.port, version }, 'listening');

  let leaving = false;
  let runner: Promise<LocalRunner> | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(signal));
  if (command === 'start') {
    await furnish().catch((error) => {
      // Who is told to leave meanwhile loses the database under its feet.
      if (!leaving) throw error;
    });
  } else {
    const mailbox = mailboxAddress();
    // Not in the log: it opens the mailbox.
    if (mailbox) console.error(`Development mailbox: ${mailbox}`);
  }

  async function furnish(): Promise<void> {
    if (config.localRunner) runner = startLocalRunner(config.localRunner, house.log);
    await runner;
    // The last thing to be seen.
    house.log.print(await welcome());
  }

  /** Finishes what is under way, for ten seconds at most, then gives everything back. */
  async function leave(signal: string): Promise<void> {
    leaving = true;
    house.log.info({ signal }, 'leaving');
    // While there is somebody to hand its runs back to.
    await runner?.then(
      (started) => started.stop(),
      () => {},
    );
    const closed = new Promise((resolve) => server.close(resolve));
    // Subscriptions end with what they wait for; their clients come back elsewhere.
    await house.changes.close();
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), seconds(10)).unref();
    await closed;
    await Promise.all([scheduler?.stop(), background?.stop()]);
    await house.close();
  }
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explained(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function explained(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const hints: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program: stop it, or set PORT to another number.`,
    EACCES: `Port ${port} needs privileges: set PORT to a number above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set HOST to one that is.`,
  };
  const hint = hints[error.code ?? ''];
  return hint ? new Error(hint) : error;
}

/** One line for the operator and no stack: what stops a start is a setting, a port or a database. */
function refuse(why: string): never {
  console.error(why);
  process.exit(1);
}
