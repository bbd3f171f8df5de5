// The check that runs after each test file: statements which compare an id with a column that refers to it (../support/reference-plans.ts).
import pg from 'pg';
import { expect, it } from 'vitest';
import { reference } from '#foundation/postgres/reads.ts';
import { freshDatabase } from '../support/database.ts';
import { unusedIndexes } from '../support/reference-plans.ts';

const lastUse = (signIn: string) =>
  `select (select max(a.last_used_at) from access_tokens a where a.sign_in_id = ${signIn}) from sign_ins s where s.user_id = $1`;

it('a statement is found that compares the id of a record with the column that refers to it, without the collation of the column', async () => {
  await unusedIndexes();
  const { connection, drop } = await freshDatabase();
  const client = new pg.Client(connection);
  await client.connect();
  for (const id of ['s.id', reference('s.id')]) await client.query(lastUse(id), ['nobody']);
  await client.end();
  await drop();
  expect(await unusedIndexes()).toEqual([`access_tokens.sign_in_id = sign_ins.id in: ${lastUse('s.id')}`]);
});
