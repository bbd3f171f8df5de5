// One prepared statement on its way over a connection. pg takes foreign query objects (`Submittable`; pg-cursor is one), and
// this one does less than pg's own: the columns are described once and not with every answer, a row is made in one step with
// its wire names, and nothing holds the rows once they are handed over (pg's own timeout timer would, until the next full
// garbage collection: a third of a page's CPU).
import pg from 'pg';

type Text = string | null;
type RowMaker = (values: Text[]) => unknown;

/** The part of pg's connection that speaks the extended query protocol (PostgreSQL, 53.2.3). */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parsedStatements: Record<string, string>;
  parse(message: { text: string; name: string }): void;
  bind(message: { statement: string; values: (Text | Buffer)[] }): void;
  describe(message: { type: 'P' }): void;
  execute(message: object): void;
  sync(): void;
}

/** Row makers by the text of their statement. */
const makers = new Map<string, RowMaker>();
/** A database of another shape may answer the same texts with other types. */
export const forgetRows = (): void => makers.clear();

/** Sends one statement; with a name it is parsed once per connection. Gives plain rows with camelCase names. */
export function send<Row>(
  client: pg.ClientBase,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new Statement(name, text, values.map(parameter), (error, rows) =>
        error ? reject(error) : resolve(rows as Row[]),
      ),
    );
  });
}

class Statement {
  readonly name: string;
  readonly text: string;
  readonly values: (Text | Buffer)[];
  /** pg replaces it to watch the time. */
  callback: (error: Error | null, rows: unknown[]) => void;
  private make: RowMaker | undefined;
  private rows: unknown[] = [];

  constructor(name: string, text: string, values: (Text | Buffer)[], callback: Statement['callback']) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.callback = callback;
    this.make = makers.get(text);
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    wire.stream.cork();
    if (!this.name || !wire.parsedStatements[this.name]) wire.parse({ text: this.text, name: this.name });
    wire.bind({ statement: this.name, values: this.values });
    if (!this.make) wire.describe({ type: 'P' });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.make = rowMaker(fields);
    makers.set(this.text, this.make);
  }

  handleDataRow({ fields }: { fields: Text[] }): void {
    this.rows.push(this.make!(fields));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    const { rows } = this;
    this.rows = [];
    this.callback(null, rows);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }
}

const asIs = pg.types.getTypeParser(pg.types.builtins.TEXT);
const camel = (column: string): string => column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** One literal per column list: rows are born with their wire names and their types. */
function rowMaker(fields: pg.FieldDef[]): RowMaker {
  const parsers = fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID));
  const members = fields.map(({ name }, i) => {
    const value = parsers[i] === asIs ? `v[${i}]` : `v[${i}] === null ? null : parsers[${i}](v[${i}])`;
    return `${JSON.stringify(camel(name))}: ${value}`;
  });
  return new Function('parsers', `return (v) => ({ ${members.join(', ')} });`)(parsers) as RowMaker;
}

/** A value as PostgreSQL's text format has it; bytes stay bytes. */
function parameter(value: unknown): Text | Buffer {
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
