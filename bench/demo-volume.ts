// Adds many runs, sandboxes and artifacts to the demo of a running service:
// `npm run bench:demo -- --runs=2000 --sandboxes=300 --artifacts=150`. The settings of the service in the environment tell where its
// database and its storage are.
import { parseArgs } from 'node:util';
import { openDatabase } from '#foundation/postgres/database.ts';
import { findEmbeddedDatabase } from '#foundation/postgres/embedded/database.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { openStorage } from '#foundation/storage/storage.ts';
import { readConfig } from '../src/config.ts';
import { databaseHome, storageOf } from '../src/services.ts';
import { fillDemo } from './demo-volume/fill.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    sandboxes: { type: 'string', default: '300' },
    artifacts: { type: 'string', default: '150' },
    metrics: { type: 'string', default: '30' },
  },
});

const config = readConfig();
const connection = config.databaseUrl ?? findEmbeddedDatabase(databaseHome(config))?.connection;
if (!connection) throw new Error('No service is running: start one with npm start, or set DATABASE_URL.');
openStorage(storageOf(config));
const knex = openDatabase({ connection, poolMax: 4, namedStatements: config.namedStatements });
const { runs, sandboxes, artifacts, metrics } = values;
console.log(
  await unrecorded(() =>
    fillDemo({
      runs: Number(runs),
      sandboxes: Number(sandboxes),
      artifacts: Number(artifacts),
      metrics: Number(metrics),
    }),
  ),
);
await knex.destroy();
