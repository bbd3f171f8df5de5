// Statements on the wire: their values, their results, and the state after a failure.
import knexFactory, { type Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPageOf } from '#foundation/postgres/cursor.ts';
import {
  enclosingTransaction,
  lookUp,
  openDatabase,
  sql,
  transaction,
  watchStatements,
} from '#foundation/postgres/database.ts';
import { sendStatement } from '#foundation/postgres/statement.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { emptyDatabase, type FreshDatabase } from '../support/database.ts';

let fresh: FreshDatabase;
let knex: Knex;
/** A separate client of the database. */
let other: Knex;

beforeAll(async () => {
  fresh = await emptyDatabase();
  other = knexFactory({ client: 'pg', connection: fresh.connection });
});
afterAll(async () => {
  await other.destroy();
  await fresh.drop();
});

const ways = [
  ['prepared', true, 'fast'],
  ['behind a pooler in transaction mode', false, 'fast'],
  ['prepared by plain pg', true, 'plain'],
  ['by plain pg behind a pooler in transaction mode', false, 'plain'],
] as const;

describe.each(ways)('A look-up, %s', (_, namedStatements, driver) => {
  beforeAll(() => {
    knex = openDatabase({ connection: fresh.connection, poolMax: 1, namedStatements, driver });
  });
  afterAll(() => knex.destroy());

  it('a look-up is sent in one message with other look-ups of the same turn of the event loop, and gets its own rows', async () => {
    const text = 'select n as found from generate_series(1, $1::int) n';
    const sent: string[] = [];
    const stop = watchStatements((statement) => sent.push(statement));
    const found = await Promise.all([2, 0, 1].map((count) => lookUp(text, [count])));
    stop();
    expect(found).toEqual([[{ found: 1 }, { found: 2 }], [], [{ found: 1 }]]);
    expect(sent).toEqual([text]);
  });

  it('a look-up returns texts of every length and script, and null', async () => {
    const texts = [
      '',
      'plain',
      'é',
      'plain, then 🏃',
      null,
      'x'.repeat(127),
      'ü'.repeat(128),
      'y'.repeat(255),
      'z'.repeat(5_000),
    ];
    for (const asked of [texts, texts.slice(0, -1).reverse()]) {
      const columns = asked.map((_, n) => `$${n + 1}::text as t${n}`).join(', ');
      const [row] = await lookUp<object>(`select ${columns}, 7 as last`, asked);
      expect(Object.values(row!)).toEqual([...asked, 7]);
    }
  });

  it('a look-up fails alone: other look-ups of the same turn of the event loop succeed', async () => {
    const asked = ['1', 'one', '2'].map((text) => lookUp('select $1::int as n', [text]));
    const settled = await Promise.allSettled(asked);
    expect(settled).toMatchObject([
      { value: [{ n: 1 }] },
      { reason: { code: '22P02', message: expect.stringContaining('"one"') } },
      { value: [{ n: 2 }] },
    ]);
  });

  it('a look-up is sent in one message together with look-ups of other SQL texts, and gets its own rows, even when it is repeated', async () => {
    const ask = () =>
      Promise.all([
        lookUp('select $1::int as one, now()::text as sent_at', [1]),
        lookUp('select $1::text as other, now()::text as sent_at from generate_series(1, 2)', ['a']),
        lookUp('select $1::int as one, now()::text as sent_at', [2]),
        lookUp('select $1::int as none, now() where false', [3]),
      ]);
    for (let time = 0; time < 3; time++) {
      const found = await ask();
      // The statements of one message are one transaction.
      const { sentAt } = found[0][0] as { sentAt: string };
      const other = { other: 'a', sentAt };
      expect(found).toEqual([[{ one: 1, sentAt }], [other, other], [{ one: 2, sentAt }], []]);
    }
  });

  it('a look-up fails alone: look-ups with other SQL texts succeed although they are sent in the same message', async () => {
    const right = 'select $1::int + 1 as n';
    for (const refused of ['select $1::int + 2 as n', 'select nothing as n, $1::int', 'select $1::int + 2 as n']) {
      const asked = [lookUp(right, [1]), lookUp(refused, ['x']), lookUp(right, [2]), lookUp('select 9 as n', [])];
      const settled = await Promise.allSettled(asked);
      expect(settled).toMatchObject([
        { value: [{ n: 2 }] },
        { reason: { code: refused.includes('nothing') ? '42703' : '22P02' } },
        { value: [{ n: 3 }] },
        { value: [{ n: 9 }] },
      ]);
    }
  });

  it('look-ups return the new columns of changed tables, even when several look-ups in one message read them', async () => {
    const ask = () => Promise.all(['lefts', 'rights', 'middles'].map((table) => lookUp(`select * from ${table}`, [])));
    for (const table of ['lefts', 'rights', 'middles']) await other.raw(`create table ${table} as select 1 as a`);
    expect(await ask()).toEqual([[{ a: 1 }], [{ a: 1 }], [{ a: 1 }]]);
    for (const table of ['lefts', 'rights', 'middles'])
      await other.raw(`alter table ${table} add column b int default 2`);
    expect(await ask()).toEqual([[{ a: 1, b: 2 }], [{ a: 1, b: 2 }], [{ a: 1, b: 2 }]]);
    await other.raw('drop table lefts, rights, middles');
  });

  it('concurrent look-ups are sent in messages of at most fifty look-ups and four hundred rows', async () => {
    const sent: string[] = [];
    const stop = watchStatements((statement) => sent.push(statement));
    const found = await Promise.all(Array.from({ length: 120 }, (_, n) => lookUp('select $1::int as n', [n])));
    expect(found).toEqual(Array.from({ length: 120 }, (_, n) => [{ n }]));
    expect(sent.splice(0)).toHaveLength(3);
    // A message returns at most 400 rows. The first look-up fills one message. The second look-up leaves no room for another 200 rows, so
    // the third and the fourth look-up share a message. The fifth look-up is sent alone.
    for (const rows of [400, 201, 200, 200, 2_000]) void lookUp('select 1', [], undefined, rows);
    await lookUp('select 1', []);
    stop();
    expect(sent).toHaveLength(5);
  });

  it('concurrent reads of pages share one message if an index contains the rows in the order of the pages, and are sent separately otherwise', async () => {
    bindSecretKey(Buffer.alloc(32, 7));
    await other.raw(`create table pages as select 'a' || n as id, n as created_at from generate_series(1, 4) n`);
    const read = (indexed: boolean) => {
      const source = { binding: 'pages', select: 'select id, created_at from pages', where: '', values: [], indexed };
      return Promise.all([1, 2, 3].map((limit) => readPageOf(source, { limit })));
    };
    const sent: string[] = [];
    const stop = watchStatements((statement) => sent.push(statement));
    const together = await read(true);
    expect(sent.splice(0)).toHaveLength(1);
    expect(together.map(({ data }) => data.map(({ id }) => id))).toEqual([['a4'], ['a4', 'a3'], ['a4', 'a3', 'a2']]);
    expect(await read(false)).toEqual(together);
    expect(sent).toHaveLength(3);
    stop();
    await other.raw('drop table pages');
  });

  it('a statement is executed after the earlier statements of its transaction, and never after the end of the transaction', async () => {
    await sql('create table turns (n int)');
    const later: Promise<unknown>[] = [];
    const failed = enclosingTransaction(async () => {
      const insert = async (n: number) => {
        await sql('insert into turns values ($1)', [n]);
        await sql('insert into turns values ($1)', [-n]);
      };
      later.push(insert(1), insert(2), insert(3));
      await Promise.all([sql('select 1 / $1::int', [0]), ...later]);
    });
    await expect(failed).rejects.toMatchObject({ code: '22012' });
    const settled = await Promise.allSettled(later);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(
      await enclosingTransaction(() => Promise.all([1, 2, 3].map((n) => lookUp('select $1::int as n', [n])))),
    ).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
    const counted = 'select count(*)::int as n from turns';
    const inOrder = await transaction((trx) =>
      Promise.all([
        sql(counted, [], trx),
        sql('insert into turns values ($1)', [7], trx),
        sql(counted, [], trx),
        sql('delete from turns', [], trx),
        sql(counted, [], trx),
      ]),
    );
    expect(inOrder).toEqual([[{ n: 0 }], [], [{ n: 1 }], [], [{ n: 0 }]]);
    expect(await sql('select n from turns')).toEqual([]);
    await sql('drop table turns');
  });

  it('when a transaction fails, its writes are undone, even if they were sent in one message with a read of the transaction', async () => {
    await sql('create table undone (n int)');
    const failed = transaction(async (trx) => {
      const insert = (n: number) => sql('insert into undone values ($1)', [n], trx);
      await Promise.all([insert(1), sql('select count(*)::int as n from undone', [], trx), insert(2)]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await sql('select n from undone')).toEqual([]);
    await sql('drop table undone');
  });

  it('a finished transaction refuses further statements', async () => {
    await sql('create table leftovers (n int)');
    let late: Promise<unknown> | undefined;
    let over = (): void => {};
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    const failed = enclosingTransaction(async () => {
      late = ended.then(() => sql('insert into leftovers values (1)'));
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    over();
    await expect(late).rejects.toThrow('the transaction has ended');
    expect(await sql('select n from leftovers')).toEqual([]);
    await sql('drop table leftovers');
  });

  it('a look-up joins an enclosing transaction', async () => {
    const seen = await enclosingTransaction(async () => {
      await sql('create temporary table looked_up on commit drop as select 7 as n');
      return lookUp('select n from looked_up', []);
    });
    expect(seen).toEqual([{ n: 7 }]);
  });
});

describe.each(ways)('A statement, %s', (_, namedStatements, driver) => {
  beforeAll(() => {
    knex = openDatabase({ connection: fresh.connection, poolMax: 1, namedStatements, driver });
  });
  afterAll(() => knex.destroy());

  it.each([
    ['text', `it's "quoted" \\ and ünïcödé`],
    ['text', ''],
    ['text', null],
    ['int4', 7],
    ['int8', 1_795_219_200_000],
    ['numeric', 12.5],
    ['float8', -0.25],
    ['boolean', true],
    ['bytea', Buffer.from('00ff5c', 'hex')],
    ['jsonb', { a: [1, null, 'x'] }],
    ['text[]', ['a"b', 'c\\d', '', 'e,f', 'NULL', null, '{}']],
    ['int4[]', [1, 2]],
    ['bytea[]', [Buffer.from('0aff', 'hex')]],
    ['text[]', []],
  ])('a statement returns a %s unchanged: %j', async (type, value) => {
    expect(await sql(`select $1::${type} as the_value`, [value])).toEqual([{ theValue: value }]);
  });

  it('a statement returns column names in camel case, also when it is executed again', async () => {
    const text = 'select n as created_at, n % 2 = 0 as is_even, null as no_thing from generate_series(1, $1) n';
    const rows = [
      { createdAt: 1, isEven: false, noThing: null },
      { createdAt: 2, isEven: true, noThing: null },
    ];
    expect(await sql(text, [2])).toEqual(rows);
    expect(await sql(text, [2])).toEqual(rows);
    expect(await sql(text, [0])).toEqual([]);
  });

  it('a statement adapts to its table: a column added, dropped or moved on another connection', async () => {
    const text = 'select * from shapes';
    await sql('create temporary table shapes (a int)');
    await sql('insert into shapes values (1)');
    expect(await sql(text)).toEqual([{ a: 1 }]);
    await sql('alter table shapes add column b text default $$x$$');
    expect(await sql(text)).toEqual([{ a: 1, b: 'x' }]);
    await sql('alter table shapes drop column a');
    expect(await sql(text)).toEqual([{ b: 'x' }]);
    await sql('drop table shapes');
    await knex.destroy();
    // Temporary tables of two connections have nothing in common but their name.
    const two = openDatabase({ connection: fresh.connection, poolMax: 2, namedStatements, driver });
    const [first, second] = await Promise.all([two.transaction(), two.transaction()]);
    await sql('create temporary table shapes on commit drop as select 1 as a', [], first);
    await sql('create temporary table shapes on commit drop as select true as z, 1 as a', [], second);
    expect(await sql(text, [], first)).toEqual([{ a: 1 }]);
    expect(await sql(text, [], second)).toEqual([{ z: true, a: 1 }]);
    await Promise.all([first.commit(), second.commit()]);
    await two.destroy();
    knex = openDatabase({ connection: fresh.connection, poolMax: 1, namedStatements, driver });
  });

  it('a statement adapts to a table that has changed during its transaction, which is repeated if necessary', async () => {
    const text = 'select * from things where $1::int > 0';
    await sql('create table things as select 1 as a');
    await sql(text, [1]);
    let tries = 0;
    const read = await transaction(async (trx) => {
      tries++;
      await trx.raw('select 1');
      if (tries === 1) await other.raw('alter table things add column b int default 2');
      return sql(text, [1], trx);
    });
    expect(read).toEqual([{ a: 1, b: 2 }]);
    expect(tries).toBe(namedStatements ? 2 : 1);
    await sql('drop table things');
  });

  it('a statement without result rows returns an empty list', async () => {
    await sql('create temporary table places (id int)');
    const insert = 'insert into places select generate_series(1, $1)';
    expect(await sql(insert, [3])).toEqual([]);
    expect(await sql(insert, [3])).toEqual([]);
    expect(await sql('select count(*) from places')).toEqual([{ count: 6 }]);
    await sql('drop table places');
  });

  it('a failed statement throws the server’s message with the caller’s stack, and its connection stays usable', async () => {
    const text = 'select 1 / $1::int as n';
    const error: Error = await sql(text, [0]).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: '22012', message: 'division by zero' });
    expect(error.stack).toContain('statement.test.ts');
    await expect(sql('select nothing')).rejects.toMatchObject({ code: '42703' });
    await expect(sql('select $1::int as n', ['x'])).rejects.toMatchObject({ code: '22P02' });
    expect(await sql(text, [1])).toEqual([{ n: 1 }]);
  });

  it('a statement fails when the server ends its connection', async () => {
    await expect(sql('select pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({ code: '57P01' });
  });
});

it.each(['fast', 'plain'] as const)(
  '%s · a statement that timed out delays no other, even if the server still executes it',
  async (driver) => {
    const impatient = openDatabase({ connection: fresh.connection, poolMax: 1, answerMs: 150, driver });
    const endless = 'select pg_sleep(1000)';
    for (const give of [
      () => sql(endless),
      () => impatient.raw(endless),
      () => Promise.all([lookUp(endless, []), lookUp('select 1', [])]),
    ]) {
      await expect(give()).rejects.toThrow('Query read timeout');
      await expect.poll(() => sql('select 1 as n').catch(() => null)).toEqual([{ n: 1 }]);
    }
    await impatient.destroy();
  },
);

// V8 allocates the function with which pg replaces the callback in the old generation, where it would keep the rows in memory.
it('pg does not replace the callback of a statement, although the connection has a time limit', async () => {
  const limited = knexFactory({ client: 'pg', connection: { ...fresh.connection, query_timeout: 60_000 } as never });
  const client = await limited.client.acquireConnection();
  const { query } = client;
  let isReplaced: boolean | undefined;
  client.query = (message: { callback: unknown }) => {
    const { callback } = message;
    query.call(client, message);
    isReplaced = message.callback !== callback;
  };
  expect(await sendStatement(client, [{ text: 'select 1 as n', values: [[]] }], true)).toEqual([[{ n: 1 }]]);
  expect(isReplaced).toBe(false);
  expect(client.connectionParameters.query_timeout).toBe(60_000);
  client.query = query;
  await limited.client.releaseConnection(client);
  await limited.destroy();
});
