// Watches the statements of a test worker. It makes pg 8 throw an error if a statement is sent on a connection that still executes another
// statement (without this module, pg 8 only warns and queues the statement; pg 9 will reject it), and notes the text of each statement.
import pg from 'pg';

/** Private members of pg's client. */
interface Executing {
  _activeQuery: unknown;
  _queryQueue: unknown[];
}
/** A text, a query of pg, or a message with several statements (foundation/postgres/statement.ts). */
type Sent = string | { text?: string; statements?: { text: string }[] };

const [known, fresh] = [new Set<string>(), new Set<string>()];

/** The texts of statements that were sent for the first time since the last call. */
export function newStatements(): string[] {
  const texts = [...fresh];
  fresh.clear();
  return texts;
}

function note(sent: Sent): void {
  const texts = typeof sent === 'string' ? [sent] : (sent.statements?.map(({ text }) => text) ?? [sent.text ?? '']);
  for (const text of texts) {
    if (!known.has(text)) fresh.add(text);
    known.add(text);
  }
}

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function queryWatched(this: pg.Client & Executing, ...args: never) {
  if (this._activeQuery || this._queryQueue.length > 0)
    throw new Error('A statement is sent while its connection executes another one.');
  note(args[0]);
  return (query as () => never).apply(this, args);
} as typeof query;
