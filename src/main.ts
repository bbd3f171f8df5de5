// The process: config → house → app → listen → leave politely. `start` also brings the schema and a demo organization.
import { createServer, type Server } from 'node:http';
import { database } from '#foundation/database.ts';
import { migrate } from '#foundation/migrations.ts';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { openHouse, version } from './house.ts';
import { welcome } from './surfaces/operator/welcome.ts';
import { jobs } from './surfaces/scheduler/jobs.ts';
import { startScheduler } from './surfaces/scheduler/surface.ts';

const command = process.argv[2] ?? 'serve';
if (command !== 'start' && command !== 'serve') {
  console.error(`Unknown command ${command}: say start (migrate, seed, serve) or serve.`);
  process.exit(1);
}

const config = settings();
const house = await openHouse(config);
if (command === 'start') await migrate(database());

const server = createServer(createApp({ ...config, version, log: house.log }));
// Slow senders may not hold a connection for ever (Node's own default is five minutes).
server.requestTimeout = 60_000;
server.headersTimeout = 15_000;
await listen(server);
const scheduler = config.scheduler ? startScheduler(jobs, house.log) : null;
house.log.info({ host: config.host, port: config.port, version }, 'listening');
if (command === 'start') console.log(await welcome());

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(signal));

/** Finishes what is under way, for ten seconds at most, then gives everything back. */
async function leave(signal: string): Promise<void> {
  house.log.info({ signal }, 'leaving');
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), 10_000).unref();
  await closed;
  await scheduler?.stop();
  await house.close();
}

function settings() {
  try {
    return readConfig(process.env);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

function listen(to: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    to.once('error', reject);
    to.listen(config.port, config.host, resolve);
  });
}
