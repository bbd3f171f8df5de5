// One of several processes that send webhooks, on a fast clock that ends leases soon, to be killed (domain/webhooks-kills.test.ts starts it).
import { setClock } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openLog } from '#foundation/log.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { jobs } from '#surfaces/scheduler/jobs.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';

/** Settings from the test, as JSON in the first argument. */
const { connection, clock, url } = JSON.parse(process.argv[2]);
setClock(() => Math.floor(clock.shows + (Date.now() - clock.at) * clock.speed));
bindSecretKey(Buffer.alloc(32, 7));
bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
openOutbound({ allowLoopback: true });
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
const wanted = /number the changes|deliveries of webhooks|send webhooks/;
startScheduler(
  jobs.filter(({ name }) => wanted.test(name)).map((job) => ({ ...job, intervalMs: 20 })),
  log,
);
