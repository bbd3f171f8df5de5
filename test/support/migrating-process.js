// Applies the migrations of a folder and prints their names, as one of several processes (programs/foundation/migrations.test.ts starts it).
import knexFactory from 'knex';
import { migrate } from '#foundation/postgres/migrations.ts';

const [connection, folder] = process.argv.slice(2);
const knex = knexFactory({ client: 'pg', connection: JSON.parse(connection) });
process.stdout.write(JSON.stringify(await migrate(knex, { folder })));
await knex.destroy();
