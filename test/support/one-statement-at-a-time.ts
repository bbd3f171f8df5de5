// A statement that is sent while its connection executes another one is refused, as pg 9 will do: pg 8 queues it and warns.
import pg from 'pg';

/** Of pg's client, which keeps both from everyone. */
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
