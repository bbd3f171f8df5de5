// How database errors are classified, and how `retrying` repeats database work whose error is retryable. The tests use errors that a real
// PostgreSQL server and real libraries raise.
import knexFactory, { type Knex } from 'knex';
import { Model } from 'objection';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseErrorKind, isUniqueViolation, retrying } from '#foundation/postgres/database-errors.ts';
import { emptyDatabase, type FreshDatabase } from '../support/database.ts';

let fresh: FreshDatabase;
let knex: Knex;

const silent = { warn() {}, error() {}, debug() {}, deprecate() {} };
const open = (extra: object = {}, pool: object = {}) =>
  knexFactory({
    client: 'pg',
    log: silent,
    connection: { ...fresh.connection, ...extra },
    pool: { min: 0, max: 4, ...pool },
  });

/** The error that the call throws; a call that succeeds fails the test. */
async function thrownBy(call: () => PromiseLike<unknown>): Promise<Error> {
  const outcome = await Promise.resolve(call()).then(
    () => undefined,
    (error: Error) => error,
  );
  if (!outcome) throw new Error('nothing was thrown');
  return outcome;
}

beforeAll(async () => {
  fresh = await emptyDatabase();
  knex = open();
  await knex.raw(
    'create table places (id int constraint places_pkey primary key, name text constraint places_name unique)',
  );
  await knex('places').insert([
    { id: 1, name: 'one' },
    { id: 2, name: 'two' },
  ]);
});

afterAll(async () => {
  await knex.destroy();
  await fresh.drop();
});

class Place extends Model {
  static override tableName = 'places';
}

describe('Errors of a real PostgreSQL server', () => {
  it('a duplicate key is final and names its constraint, through knex and through Objection alike', async () => {
    const row = { id: 3, name: 'one' };
    for (const insert of [() => knex('places').insert(row), () => Place.query(knex).insert(row as never)]) {
      const error = await thrownBy(insert);
      expect(databaseErrorKind(error)).toBe('final');
      expect(isUniqueViolation(error)).toBe(true);
      expect(isUniqueViolation(error, 'places_name')).toBe(true);
      expect(isUniqueViolation(error, 'places_pkey')).toBe(false);
    }
  });

  it('a statement that timed out counts as an overload', async () => {
    const slow = () =>
      knex.transaction(async (trx) => {
        await trx.raw('set local statement_timeout = 20');
        await trx.raw('select pg_sleep(5)');
      });
    expect(databaseErrorKind(await thrownBy(slow))).toBe('overload');
  });

  it('a row locked by another transaction is retryable', async () => {
    const holder = await knex.transaction();
    await holder('places').where({ id: 1 }).forUpdate();
    const error = await thrownBy(() => knex('places').where({ id: 1 }).forUpdate().noWait());
    await holder.rollback();
    expect(databaseErrorKind(error)).toBe('retry');
  });

  it('a serialization failure is retryable', async () => {
    const reader = await knex.transaction({ isolationLevel: 'repeatable read' });
    await reader('places').where({ id: 1 });
    await knex('places').where({ id: 1 }).update({ name: 'uno' });
    const error = await thrownBy(() => reader('places').where({ id: 1 }).update({ name: 'un' }));
    await reader.rollback();
    expect(databaseErrorKind(error)).toBe('retry');
  });

  it('the outcome of a statement is unknown if an administrator ends the connection or a read times out', async () => {
    const client = new pg.Client(fresh.connection);
    client.on('error', () => {});
    await client.connect();
    const ended = await thrownBy(() => client.query('select pg_terminate_backend(pg_backend_pid())'));
    expect(databaseErrorKind(ended)).toBe('unknown');
    const impatient = open({ query_timeout: 20 });
    expect(databaseErrorKind(await thrownBy(() => impatient.raw('select pg_sleep(0.1)')))).toBe('unknown');
    await impatient.destroy();
  });

  it('an exhausted pool is an overload', async () => {
    const small = open({}, { max: 1, acquireTimeoutMillis: 500 });
    const holder = await small.transaction();
    expect(databaseErrorKind(await thrownBy(() => small.raw('select 1')))).toBe('overload');
    await holder.rollback();
    await small.destroy();
  });

  it('a statement is retryable if the server is unreachable, through a socket or a port', async () => {
    for (const nowhere of [
      { host: '/tmp/no-such-folder' },
      { host: '127.0.0.1', port: 1 },
      { host: 'localhost', port: 1 },
    ]) {
      const lost = open(nowhere);
      expect(databaseErrorKind(await thrownBy(() => lost.raw('select 1')))).toBe('retry');
      await lost.destroy();
    }
  });

  it('a wrong password and a mistake in the SQL are final', async () => {
    const stranger = open({ password: 'wrong' });
    expect(databaseErrorKind(await thrownBy(() => stranger.raw('select 1')))).toBe('final');
    await stranger.destroy();
    expect(databaseErrorKind(await thrownBy(() => knex.raw('select nonsense')))).toBe('final');
  });
});

describe('The table of database errors', () => {
  const coded = (code: string, more: object = {}) => Object.assign(new Error('as raised'), { code, ...more });

  it.each([
    [
      'retry',
      ['40001', '40P01', '55P03', '57P03', '53300', '3D000', '25006', '08001', '08004', 'ECONNREFUSED', 'EHOSTUNREACH'],
    ],
    ['unknown', ['57P01', '57P02', '08003', '08006', '08007', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']],
    ['overload', ['57014', '53000', '53100', '53200', '53400', '58030']],
    ['final', ['22001', '23503', '42P01', '28P01', '28000', '25P02', 'P0001']],
  ])('each listed error code is classified as %s', (fault, codes) => {
    for (const code of codes) expect([code, databaseErrorKind(coded(code))]).toEqual([code, fault]);
  });

  it.each([
    ['select 1 - Connection terminated unexpectedly', 'unknown'],
    ['Query read timeout', 'unknown'],
    ['timeout expired', 'retry'],
    ['Client has encountered a connection error and is not queryable', 'retry'],
  ])('an error with the words "%s" is classified as %s', (message, fault) => {
    expect(databaseErrorKind(new Error(message))).toBe(fault);
  });

  it.each([
    ['server login has been failing, cached error: connect failed (server_login_retry)', 'retry'],
    ['server login has been failing, try again later (server_login_retry)', 'retry'],
    ['no more connections allowed (max_client_conn)', 'retry'],
    ['client connections exceeded (max_db_client_connections)', 'retry'],
    ['client_login_timeout (server down)', 'retry'],
    ['pooler is shutting down', 'retry'],
    ['query_wait_timeout', 'overload'],
    ['query timeout', 'unknown'],
    ['server conn crashed?', 'unknown'],
  ])('PgBouncer · "%s" is classified as %s', (message, fault) => {
    expect(databaseErrorKind(Object.assign(new Error(message), { code: '08P01' }))).toBe(fault);
  });

  it('a protocol violation that the server itself reports is final', () => {
    expect(databaseErrorKind(coded('08P01', { routine: 'exec_bind_message' }))).toBe('final');
  });

  it('a stale plan is retryable, but any other error with the code for unsupported features is final', () => {
    expect(databaseErrorKind(coded('0A000', { routine: 'RevalidateCachedQuery' }))).toBe('retry');
    expect(databaseErrorKind(coded('0A000', { routine: 'transformInsertStmt' }))).toBe('final');
  });

  it('a wrapped error is judged by its cause', () => {
    const wrapped = Object.assign(new Error('wrapped'), { nativeError: coded('40P01') });
    expect(databaseErrorKind(wrapped)).toBe('retry');
    expect(databaseErrorKind(new Error('migration failed', { cause: coded('42601') }))).toBe('final');
  });

  it('errors that do not come from a database are not classified', () => {
    const missingFile = coded('ENOENT', { syscall: 'open' });
    for (const thrown of [new Error('plain'), missingFile, coded('EACCES'), 'a string', undefined, null]) {
      expect(databaseErrorKind(thrown)).toBeNull();
      expect(isUniqueViolation(thrown)).toBe(false);
    }
  });
});

describe('retrying database work', () => {
  const busy = Object.assign(new Error('deadlock'), { code: '40P01' });

  it('failed database work is repeated as a whole after pauses of 50 to 500 ms until it succeeds', async () => {
    const pauses: number[] = [];
    let tries = 0;
    const work = async () => {
      if (++tries < 4) throw busy;
      return 'done';
    };
    expect(await retrying(work, { budgetMs: 30_000, sleep: async (ms) => pauses.push(ms) })).toBe('done');
    expect(pauses).toHaveLength(3);
    for (const pause of pauses) expect(pause).toSatisfy((ms: number) => ms >= 50 && ms <= 500);
  });

  it('failed database work is repeated within a time budget, and then ends with its last error', async () => {
    let waited = 0;
    const work = async () => {
      throw busy;
    };
    const sleep = async (ms: number) => (waited += ms);
    await expect(retrying(work, { budgetMs: 2_000, sleep })).rejects.toBe(busy);
    expect(waited).toBeLessThanOrEqual(2_000);
    expect(waited).toBeGreaterThan(1_400);
  });

  it('database work that may have been applied is not repeated', async () => {
    const lost = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    let tries = 0;
    const work = async () => {
      tries++;
      throw lost;
    };
    await expect(retrying(work, { budgetMs: 30_000 })).rejects.toBe(lost);
    expect(tries).toBe(1);
  });
});
