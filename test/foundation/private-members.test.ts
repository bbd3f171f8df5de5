// Private members of pg, pg-protocol and knex that the data layer relies on (src/foundation/postgres/README.md): an upgrade that changes a
// member fails a test here, which names the member.
import type { Socket } from 'node:net';
import knexFactory, { type Knex } from 'knex';
import { serialize } from 'pg-protocol';
import { Parser } from 'pg-protocol/dist/parser.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptyDatabase, type FreshDatabase } from '../support/database.ts';

let fresh: FreshDatabase;
let knex: Knex;
interface Wire {
  stream: Socket;
  parsedStatements: Record<string, string>;
}
/** A pg connection with its private members. */
let client: {
  connection: Wire;
  connectionParameters: { query_timeout: number };
  _activeQuery: unknown;
  query(query: object): Promise<unknown>;
};

beforeAll(async () => {
  fresh = await emptyDatabase();
  knex = knexFactory({ client: 'pg', connection: fresh.connection, pool: { min: 0, max: 1 } });
  client = await knex.client.acquireConnection();
});
afterAll(async () => {
  await knex.client.releaseConnection(client);
  await knex.destroy();
  await fresh.drop();
});

it('pg has a stream for the messages of a connection, and reads it with one listener', () => {
  for (const name of ['write', 'destroy'] as const) expect(client.connection.stream[name], name).toBeTypeOf('function');
  expect(client.connection.stream.writable).toBe(true);
  expect(client.connection.stream.listenerCount('data')).toBe(1);
});

it('pg records which named statements the server has parsed', async () => {
  await client.query({ name: 'pinned', text: 'select 1' });
  expect(client.connection.parsedStatements).toMatchObject({ pinned: 'select 1' });
});

function sendSelect(connection: Wire): void {
  const { parse, bind, describe, execute, sync } = serialize;
  const messages = [parse({ text: 'select 1 as n' }), bind({}), describe({ type: 'P' }), execute(), sync()];
  connection.stream.write(Buffer.concat(messages));
}

it('pg calls the methods of a query object that the data layer implements, and exposes this object while it executes the query', async () => {
  const called: string[] = [];
  const note = (name: string) => () => void called.push(name);
  await new Promise<void>((resolve) => {
    const query = {
      submit: (connection: Wire) => {
        sendSelect(connection);
        expect(client._activeQuery).toBe(query);
      },
      handleRowDescription: note('handleRowDescription'),
      handleDataRow: note('handleDataRow'),
      handleCommandComplete: note('handleCommandComplete'),
      handleReadyForQuery: () => resolve(),
      handleError: note('handleError'),
    };
    void client.query(query);
  });
  expect(called).toEqual(['handleRowDescription', 'handleDataRow', 'handleCommandComplete']);
  expect(client._activeQuery).toBeNull();
});

it.each([
  { query_timeout: 0, verb: 'keeps' },
  { query_timeout: 60_000, verb: 'replaces' },
])(
  'pg $verb the callback of a query object on a connection with query_timeout $query_timeout',
  async ({ query_timeout, verb }) => {
    Object.assign(client.connectionParameters, { query_timeout });
    await new Promise<void>((resolve) => {
      const callback = () => resolve();
      const query = {
        callback,
        submit: sendSelect,
        handleRowDescription() {},
        handleDataRow() {},
        handleCommandComplete() {},
        handleReadyForQuery: () => query.callback(),
      };
      void client.query(query);
      expect(query.callback !== callback).toBe(verb === 'replaces');
    });
    client.connectionParameters.query_timeout = 0;
  },
);

it('pg-protocol passes each message to handlePacket with its offset, code and length', () => {
  const parser = new Parser() as unknown as { handlePacket(...place: unknown[]): object; parse: Parser['parse'] };
  expect(parser.handlePacket).toBeTypeOf('function');
  const places: unknown[][] = [];
  const parsed = parser.handlePacket;
  parser.handlePacket = function (this: unknown, ...place) {
    places.push(place.slice(0, 3));
    return parsed.apply(this, place);
  };
  // The message ReadyForQuery with the status idle.
  parser.parse(Buffer.from('5a0000000549', 'hex'), () => {});
  expect(places).toEqual([[5, 0x5a, 5]]);
});

it('knex does not reuse a connection that is marked as disposed', async () => {
  expect(knex.client.acquireRawConnection).toBeTypeOf('function');
  const other = knexFactory({ client: 'pg', connection: fresh.connection, pool: { min: 0, max: 1 } });
  const first = await other.client.acquireConnection();
  Object.assign(first, { __knex__disposed: new Error('gone') });
  await other.client.releaseConnection(first);
  const second = await other.client.acquireConnection();
  expect(second).not.toBe(first);
  await other.client.releaseConnection(second);
  await other.destroy();
});

it('knex sends the first statement of a transaction with `begin`, and each later statement with `_query` of the client', async () => {
  const other = knexFactory({ client: 'pg', connection: fresh.connection, pool: { min: 0, max: 1 } });
  const sent: string[] = [];
  const { _query: send, transaction: open } = other.client;
  other.client._query = function (this: unknown, connection: unknown, query: { sql: string }) {
    sent.push(query.sql);
    return send.call(this, connection, query);
  };
  other.client.transaction = function (this: unknown, ...settings: unknown[]) {
    const trx = open.apply(this, settings);
    trx.begin = (connection: unknown) => trx.query(connection, `BEGIN; SET LOCAL aep.pinned = 'set'`);
    return trx;
  };
  await other.raw('select 1');
  const { rows } = await other.transaction((trx) => trx.raw(`select current_setting('aep.pinned') as pinned`));
  expect([sent, rows]).toEqual([['select 1'], [{ pinned: 'set' }]]);
  await other.destroy();
});
