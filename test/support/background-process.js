// A process that runs background jobs, to be killed in the middle of one (programs/foundation/background.test.ts starts it).
import { startBackground } from '#foundation/jobs/background.ts';
import { openLog } from '#foundation/log.ts';
import { openDatabase } from '#foundation/postgres/database.ts';

const connection = JSON.parse(process.argv[2]);
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
async function mail(payload) {
  process.send?.(payload);
  await new Promise(() => {});
}
startBackground({ mail }, { log });
