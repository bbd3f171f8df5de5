// Rejects a statement that is sent while its connection executes another one, as pg 9 will; pg 8 queues it and warns.
import pg from 'pg';

/** Private members of pg's client. */
interface Executing {
  _activeQuery: unknown;
  _queryQueue: unknown[];
}

const { query } = pg.Client.prototype;
if (query.name !== 'queryAlone') {
  pg.Client.prototype.query = function queryAlone(this: pg.Client & Executing, ...args: never) {
    if (this._activeQuery || this._queryQueue.length > 0)
      throw new Error('A statement is sent while its connection executes another one.');
    return (query as () => never).apply(this, args);
  } as typeof query;
}
