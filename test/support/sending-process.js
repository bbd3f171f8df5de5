// One of several processes that send webhooks or audit logs, on a fast clock that ends leases soon, to be killed
// (programs/domain/webhooks-kills.test.ts and programs/domain/audit-stream-kills.test.ts start it).
import { setClock } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { startBackground } from '#foundation/jobs/background.ts';
import { openLog } from '#foundation/log.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { deliveries } from '#surfaces/scheduler/deliveries.ts';
import { jobs } from '#surfaces/scheduler/jobs.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';

/** Settings from the test, as JSON in the first argument: `wanted` is a pattern of names of jobs, `queues` lists background queues. */
const { connection, clock, url, ca, wanted, queues } = JSON.parse(process.argv[2]);
setClock(() => Math.floor(clock.shows + (Date.now() - clock.at) * clock.speed));
bindSecretKey(Buffer.alloc(32, 7));
bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
openOutbound({ allowLoopback: true, ...(ca && { ca }) });
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
const pattern = new RegExp(wanted);
startScheduler(
  jobs.filter(({ name }) => pattern.test(name)).map((job) => ({ ...job, intervalMs: 20 })),
  log,
);
startBackground(Object.fromEntries(queues.map((queue) => [queue, deliveries[queue]])), { log, look: 20 });
