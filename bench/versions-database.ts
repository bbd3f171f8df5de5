// A process with the database of one version for bench/versions.ts. Its argument is the path of that version's bench/database.ts. It sends the
// URL of the database. For each number of an organization that it receives, it deletes the organization's projects and answers.
import type { BenchDatabase } from './database.ts';

const { openBenchDatabase } = (await import(process.argv[2]!)) as { openBenchDatabase(): Promise<BenchDatabase> };
const database = await openBenchDatabase();
process.on('message', (organization: number) => void database.empty(organization).then(() => process.send!('empty')));
process.on('disconnect', () => void database.close().then(() => process.exit()));
process.send!(database.url);
