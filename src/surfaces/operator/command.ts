// One command of the operator: its options as a zod object, from which the parsing, the complaints and the help are made.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import '#graph/validation.ts';
import type { DatabaseConnection } from '#foundation/embedded/database.ts';

/** The installation that a command works on. */
export interface Place {
  dataDir: string;
  /** What the embedded cluster is kept in. */
  databaseHome: string;
  /** What the contents of artifacts are kept in; null when that is a bucket. */
  contentsFolder: string | null;
  /** Whether the service key is the one in `dataDir`, and not a setting. */
  ownSecretKey: boolean;
  /** Where the rows are, unless the command needs nothing. */
  connection: string | DatabaseConnection;
  /** The data folder of the embedded cluster; undefined with a DATABASE_URL. */
  data: string | undefined;
  /** Whether a service has the embedded database open at this moment. */
  inUse: boolean;
  /** What was piped in. */
  readInput: () => Promise<string>;
}

export interface Command {
  about: string;
  /** Its options, as they are typed. */
  example: string;
  options: z.ZodObject;
  /** What must stand before it runs: a database with the present schema, any database, nothing. */
  needs: 'schema' | 'database' | 'nothing';
  /** What it gives is printed as JSON. */
  run: (options: never, place: Place) => Promise<unknown>;
}

interface Draft<S extends z.ZodObject> {
  about: string;
  example?: string;
  options: S;
  needs?: Command['needs'];
  run: (options: z.output<S>, place: Place) => Promise<unknown>;
}

export const command = <S extends z.ZodObject>(draft: Draft<S>): Command => ({
  needs: 'schema',
  example: '',
  ...draft,
});

/** An option without a value. */
export const flag = z.boolean().optional().describe('A switch: takes no value.');

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** @throws an Error with a line for each option that is unknown, missing or not what it must be. */
export function readOptions({ options }: Command, args: string[]): never {
  const { values } = parse(options, args);
  const wrong: string[] = [];
  const given: Record<string, unknown> = {};
  for (const [name, [value, ...more]] of Object.entries(values)) {
    given[name] = value;
    if (more.length > 0) wrong.push(`--${name}: is given more than once`);
  }
  const { data, error } = options.safeParse(given);
  for (const { path, message } of error?.issues ?? []) wrong.push(`--${path.join('.')}: ${message}`);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return data as never;
}

function parse(options: z.ZodObject, args: string[]): { values: Record<string, unknown[]> } {
  const known = Object.entries(options.shape).map(
    ([name, schema]) => [name, { type: schema === flag ? 'boolean' : 'string', multiple: true }] as const,
  );
  try {
    return parseArgs({ args, options: Object.fromEntries(known) }) as { values: Record<string, unknown[]> };
  } catch (error) {
    // The rest of Node's words is about positional arguments, of which there are none.
    throw new Error((error as Error).message.split(/\.\s|\n/, 1)[0]);
  }
}

/** `--email EMAIL [--name NAME]`. */
export function usage({ options }: Command): string {
  const words = Object.entries(options.shape).map(([name, schema]) => {
    const word = schema === flag ? `--${name}` : `--${name} ${name.toUpperCase()}`;
    return schema.safeParse(undefined).success ? `[${word}]` : word;
  });
  return words.join(' ');
}

/** Of an optional option, that of what it holds. */
const descriptionOf = (schema: z.ZodType): string | undefined =>
  schema.description ??
  (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? descriptionOf(schema.unwrap() as z.ZodType)
    : undefined);

const invocation = 'npm run --silent admin --';

/** What `COMMAND --help` prints: what the command does, its options with what each takes, and an example. */
export function helpOf(name: string, one: Command): string {
  const options = Object.entries(one.options.shape).map(
    ([option, schema]) => `  --${option}\n      ${descriptionOf(schema as z.ZodType)}`,
  );
  return [
    `${invocation} ${`${name} ${usage(one)}`.trim()}`,
    '',
    one.about,
    ...(options.length > 0 ? ['', 'Options:', ...options] : []),
    '',
    'Example:',
    `  ${invocation} ${`${name} ${one.example}`.trim()}`,
  ].join('\n');
}

/** What `help` prints: every command with its options. */
export const helpOfAll = (commands: Readonly<Record<string, Command>>): string =>
  [
    `${invocation} COMMAND`,
    `${invocation} COMMAND --help`,
    '',
    ...Object.entries(commands).map(([name, one]) => `  ${`${name} ${usage(one)}`.trim()}\n      ${one.about}`),
    '  help\n      Shows this.',
  ].join('\n');
