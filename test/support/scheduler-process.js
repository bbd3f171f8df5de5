// One of several processes that run due occurrences, on a clock faster than the world's, to be killed (programs/surfaces/scheduler.test.ts
// starts it).
import { dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { setClock } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openLog } from '#foundation/log.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { startScheduler } from '#surfaces/scheduler/surface.ts';

/** Settings from the test, as JSON in the first argument. */
const { connection, clock } = JSON.parse(process.argv[2]);
setClock(() => Math.floor(clock.shows + (Date.now() - clock.at) * clock.speed));
const url = 'http://localhost:4000';
bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
async function run() {
  process.send?.('at work');
  await dispatchDue();
}
startScheduler([{ name: 'start due missions', intervalMs: 20, run }], log);
