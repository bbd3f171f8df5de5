// One prepared statement on its way over a connection. pg takes foreign query objects (`Submittable`; pg-cursor is one), and
// this one does less than pg's own: the columns are described once and not with every answer, a row is made in one step with
// its wire names, and nothing is copied on the way. It is a fifth of what reading one record costs (bench/README.md).
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

/** What is known of a text: its name on the wire, and how its rows are made once they have been described. */
interface Known {
  name: string;
  make?: RowMaker;
}

const known = new Map<string, Known>();
/** Another database may answer the same texts with other types. */
export const forgetStatements = (): void => known.clear();

function recall(text: string): Known {
  const statement = known.get(text) ?? { name: `s${known.size + 1}` };
  known.set(text, statement);
  return statement;
}

/**
 * Sends one statement and gives plain rows with camelCase names. What is `prepared` gets a name, and the server parses it
 * once per connection.
 */
export function send<Row>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[],
  prepared: boolean,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, rows: unknown[]) => (error ? reject(error) : resolve(rows as Row[]));
    client.query(new Statement(text, values.map(parameter), prepared, settle));
  });
}

class Statement {
  readonly name: string;
  readonly text: string;
  private readonly values: (Text | Buffer)[];
  /** pg replaces it to watch the time. */
  callback: (error: Error | null, rows: unknown[]) => void;
  private readonly known: Known;
  private readonly rows: unknown[] = [];

  constructor(text: string, values: (Text | Buffer)[], prepared: boolean, callback: Statement['callback']) {
    this.known = recall(text);
    this.name = prepared ? this.known.name : '';
    this.text = text;
    this.values = values;
    this.callback = callback;
  }

  submit(connection: unknown): void {
    const { name, text, values } = this;
    const wire = connection as Wire;
    wire.stream.cork();
    if (!name || !wire.parsedStatements[name]) wire.parse({ text, name });
    wire.bind({ statement: name, values });
    if (!this.known.make) wire.describe({ type: 'P' });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.known.make = rowMaker(fields);
  }

  handleDataRow({ fields }: { fields: Text[] }): void {
    this.rows.push(this.known.make!(fields));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.rows);
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
