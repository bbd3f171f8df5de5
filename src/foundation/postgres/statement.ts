// Prepared statements on a connection. pg accepts foreign query objects (`Submittable`; pg-cursor is one), and this one does less than pg's
// own: columns are described once per connection and not with every response, and a row is built in one step with its wire names. The
// difference is a fifth of the cost of reading one record (bench/README.md).
import pg from 'pg';
import { serialize } from 'pg-protocol';
import { isStalePlan } from './database-errors.ts';

type Text = string | null;
type RowMaker = (values: Text[]) => unknown;

/** The part of pg's connection that a message needs. */
interface Wire {
  stream: { writable: boolean; write(bytes: Buffer): void };
  parsedStatements: Record<string, string>;
}

/** The name of each text in the protocol. A name is never used for a second text. */
const names = new Map<string, string>();
let named = 0;

export function nameOf(text: string): string {
  const name = names.get(text) ?? `s${++named}`;
  names.set(text, name);
  return name;
}

/** Forgets the name of a statement, so that every connection prepares the statement again, under a new name. */
export const forgetName = (text: string): void => void names.delete(text);

/**
 * Row constructors, per connection and prepared statement: the server guarantees the description of a prepared statement for its
 * lifetime, but not for another connection or another statement with the same text.
 */
const described = new WeakMap<Wire, Map<string, RowMaker>>();

/** A statement, with the values of each execution. */
export interface Repeated {
  text: string;
  values: readonly (readonly unknown[])[];
}

/**
 * Sends statements in one message, and executes each once per list of values. Resolves to the plain rows of each
 * execution, with camelCase names; if one execution fails, all fail. A `prepared` statement gets a name, and the server parses it once per
 * connection.
 */
export function sendStatement<Row>(
  client: pg.ClientBase,
  statements: readonly Repeated[],
  prepared: boolean,
): Promise<Row[][]> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, rows: unknown[][]) => (error ? reject(error) : resolve(rows as Row[][]));
    queryWithLimit(client, new Message(statements, prepared, settle));
  });
}

/**
 * Passes the message to pg, with the time limit of the connection (`query_timeout`). pg's own limit would replace `callback` by a function
 * that is written in the assignment itself. V8 allocates such a function in the old generation, where it keeps the rows of each response in
 * memory until the next full garbage collection (bench/README.md).
 */
function queryWithLimit(client: pg.ClientBase, message: Message): void {
  const { connectionParameters: settings } = client as unknown as { connectionParameters: { query_timeout: number } };
  const limitMs = settings.query_timeout;
  settings.query_timeout = 0;
  try {
    client.query(message);
  } finally {
    settings.query_timeout = limitMs;
  }
  if (limitMs) message.endAfter(limitMs);
}

interface Named extends Repeated {
  name: string;
}

class Message {
  /** Name and text of the current statement. pg reads both members, to remember which statements the server has parsed. */
  name: string;
  text: string;
  private readonly statements: readonly Named[];
  /** Called with the result or the error. A call after the first has no effect, such as that of a response after the time limit. */
  private readonly callback: (error: Error | null, rows: unknown[][]) => void;
  private limit: NodeJS.Timeout | undefined;
  private makers: Map<string, RowMaker> | undefined;
  private make: RowMaker | undefined;
  private rows: unknown[] = [];
  private readonly results: unknown[][] = [];
  /**
   * `at` is the index of the current statement. The current statement is complete once `results` has `end` entries, because `end` counts the
   * executions of this statement and of all statements before it.
   */
  private at = 0;
  private end: number;

  constructor(statements: readonly Repeated[], prepared: boolean, callback: Message['callback']) {
    this.statements = statements.map(({ text, values }) => ({ name: prepared ? nameOf(text) : '', text, values }));
    this.callback = callback;
    const { name, text, values } = this.statements[0]!;
    this.name = name;
    this.text = text;
    this.end = values.length;
  }

  /** Ends the message with an error unless it has ended after this time. PostgreSQL still executes its statements. */
  endAfter(ms: number): void {
    this.limit = setTimeout(() => this.callback(new Error('Query read timeout'), []), ms);
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    if (this.name) {
      this.makers = described.get(wire) ?? new Map<string, RowMaker>();
      described.set(wire, this.makers);
      this.make = this.makers.get(this.name);
    }
    // One buffer is sent, because a stream takes longer for each of a hundred small ones than it takes to copy them.
    const pieces: Buffer[] = [];
    const parsed = new Set<string>();
    for (const { name, text, values } of this.statements) {
      if (!name || !(wire.parsedStatements[name] || parsed.has(name))) pieces.push(serialize.parse({ text, name }));
      parsed.add(name);
      let known = this.makers?.has(name) ?? false;
      for (const each of values) {
        pieces.push(serialize.bind({ statement: name, values: each.map(parameter) }));
        if (!known) pieces.push(serialize.describe({ type: 'P' }));
        known = true;
        pieces.push(serialize.execute());
      }
    }
    pieces.push(serialize.sync());
    if (wire.stream.writable) wire.stream.write(Buffer.concat(pieces));
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.make = rowMaker(this.text, fields);
    this.makers?.set(this.name, this.make);
  }

  handleDataRow({ fields }: { fields: Text[] }): void {
    this.rows.push(this.make!(fields));
  }

  handleCommandComplete(): void {
    this.results.push(this.rows);
    this.rows = [];
    const next = this.results.length === this.end && this.statements[++this.at];
    if (!next) return;
    this.name = next.name;
    this.text = next.text;
    this.end += next.values.length;
    this.make = this.makers?.get(next.name);
  }

  handleReadyForQuery(): void {
    this.settle(null, this.results);
  }

  handleError(error: Error): void {
    // A table in the statement has changed, so the statement must be prepared again.
    if (isStalePlan(error)) forgetName(this.text);
    this.settle(error, []);
  }

  private settle(error: Error | null, rows: unknown[][]): void {
    clearTimeout(this.limit);
    this.callback(error, rows);
  }
}

const asIs = pg.types.getTypeParser(pg.types.builtins.TEXT);
export const camel = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * For each SQL text, the function that was compiled last to construct its rows, and the columns for which it was compiled. All connections
 * use these functions, because PostgreSQL usually describes the columns of a text in the same way on each connection.
 */
const compiled = new Map<string, { columns: string; make: RowMaker }>();

function rowMaker(text: string, fields: pg.FieldDef[]): RowMaker {
  const columns = fields.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join();
  const last = compiled.get(text);
  if (last?.columns === columns) return last.make;
  const make = compileRowMaker(fields);
  compiled.set(text, { columns, make });
  return make;
}

/** Compiles one object literal per column list: rows are created with their wire names and their types. */
function compileRowMaker(fields: pg.FieldDef[]): RowMaker {
  const parsers = fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID));
  const members = fields.map(({ name }, i) => {
    const value = parsers[i] === asIs ? `v[${i}]` : `v[${i}] === null ? null : parsers[${i}](v[${i}])`;
    return `${JSON.stringify(camel(name))}: ${value}`;
  });
  return new Function('parsers', `return (v) => ({ ${members.join(', ')} });`)(parsers) as RowMaker;
}

/** A value in PostgreSQL's text format; bytes stay bytes. */
export function parameter(value: unknown): Text | Buffer {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (Buffer.isBuffer(value)) return value;
  return Array.isArray(value) ? element(value) : JSON.stringify(value);
}

function element(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  const text = parameter(value);
  if (text === null) return 'NULL';
  return `"${Buffer.isBuffer(text) ? `\\\\x${text.toString('hex')}` : text.replace(/["\\]/g, '\\$&')}"`;
}
