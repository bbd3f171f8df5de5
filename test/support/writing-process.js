// A service process that owns an embedded database, writes row after row and prints each number once it is committed
// (programs/foundation/embedded-database.test.ts starts it).
import pg from 'pg';
import { startEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';

const database = await startEmbeddedDatabase({ home: process.argv[2] });
const client = new pg.Client(database.connection);
await client.connect();
await client.query('create table if not exists rows_written (n integer primary key)');
let stopping = false;
process.once('SIGTERM', () => {
  stopping = true;
});
for (let n = 1; !stopping; n++) {
  await client.query('insert into rows_written values ($1)', [n]);
  console.log(n);
}
await client.end();
await database.stop();
