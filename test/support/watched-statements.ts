// Makes pg 8 throw an error if a statement is sent on a connection that still executes another statement. Without this module, pg 8 only
// warns and queues the statement; pg 9 will reject it.
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
