// Retries: work that was certainly not applied is repeated within limits, and a permanent refusal is not.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openDatabase, sql, transaction } from '#foundation/postgres/database.ts';
import { databaseErrorKind } from '#foundation/postgres/database-errors.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

let fresh: FreshDatabase;
let knex: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  // Retries wait for a random time: here, for the shortest.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  fresh = await freshDatabase();
  knex = openDatabase({ connection: fresh.connection });
  await knex.raw('create table tries (n integer)');
  await knex.raw('create sequence calls');
  await knex.raw(`create function unlucky(times integer, state text) returns integer language plpgsql as $$
    declare call integer := nextval('calls');
    begin
      if call <= times then raise exception 'unlucky' using errcode = state; end if;
      return call;
    end $$`);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await knex.destroy();
  await fresh.drop();
});

const again = () => knex.raw("select setval('calls', 1, false)");
const serializationFailure = '40001';
const divisionByZero = '22012';

it('a statement that lost a race is sent again', async () => {
  await again();
  expect(await sql('select unlucky(2, $1) as call', [serializationFailure])).toEqual([{ call: 3 }]);
});

it('a transaction that lost a race is repeated as a whole, and its earlier writes count once', async () => {
  await again();
  const call = await transaction(async (trx) => {
    await trx('tries').insert({ n: 1 });
    const { rows } = await trx.raw('select unlucky(1, ?) as call', [serializationFailure]);
    return rows[0].call;
  });
  expect(call).toBe(2);
  expect(await sql('select count(*) as rows from tries')).toEqual([{ rows: 1 }]);
});

it('a permanent failure is not retried', async () => {
  await again();
  const error = await sql('select unlucky(9, $1)', [divisionByZero]).catch((thrown) => thrown);
  expect(databaseErrorKind(error)).toBe('final');
  expect(await sql("select nextval('calls') as call")).toEqual([{ call: 2 }]);
});

it('a statement that keeps failing is reported within seconds', async () => {
  await again();
  const error = await sql('select unlucky(1000, $1)', [serializationFailure]).catch((thrown) => thrown);
  expect(databaseErrorKind(error)).toBe('retry');
});
