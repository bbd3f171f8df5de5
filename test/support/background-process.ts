// A process that does jobs of the background. It is there to be killed in the middle of one (foundation/background.test.ts starts it).
import { startBackground } from '#foundation/background.ts';
import { openDatabase } from '#foundation/database.ts';
import type { DatabaseConnection } from '#foundation/embedded/database.ts';
import { openLog } from '#foundation/log.ts';

const connection: DatabaseConnection = JSON.parse(process.argv[2]!);
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
async function mail(payload: object): Promise<void> {
  process.send?.(payload);
  await new Promise(() => {});
}
startBackground({ mail }, { log });
