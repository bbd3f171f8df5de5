// A command of the operator: its options are a zod object, which defines parsing, errors and help.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import '#graph/validation.ts';
import type { DatabaseConnection } from '#foundation/postgres/embedded/database.ts';
import { calledAs } from '#foundation/program.ts';

/** The installation on which a command operates. */
export interface Place {
  dataDir: string;
  /** The folder of the embedded cluster. */
  databaseHome: string;
  /** The folder of the contents of artifacts; null when they are in a bucket. */
  contentsFolder: string | null;
  /** Whether the service key is stored in `dataDir`; otherwise it is a setting. */
  ownSecretKey: boolean;
  /** The service key in the setting SECRET_KEY; null without the setting. */
  secretKey: Buffer | null;
  /** Where scheduled backups are kept; null without scheduled backups. */
  backupUrl: string | null;
  /** Release of this program. */
  version: string;
  /** Connection string of the database; empty for a command that needs no database. */
  connection: string | DatabaseConnection;
  /** The data folder of the embedded cluster; undefined with a DATABASE_URL. */
  data: string | undefined;
  /** Whether a running service uses the embedded database. */
  inUse: boolean;
  /** Reads all of standard input. */
  readInput: () => Promise<string>;
}

export interface Command {
  about: string;
  /** An example of the options, as typed in a shell. */
  example: string;
  options: z.ZodObject;
  /** Prerequisite of the command: a database with the current schema, any database, or nothing. */
  needs: 'schema' | 'database' | 'nothing';
  /** Executes the command; the result is printed as JSON. */
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

/** Schema of an option that has no value. */
export const flag = z.boolean().optional().describe('A switch without a value.');

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** Parses the options. @throws an Error with a line for each unknown, missing or invalid option */
export function readOptions({ options }: Command, args: string[]): never {
  const { values } = parse(options, args);
  const errors: string[] = [];
  const first: Record<string, unknown> = {};
  for (const [name, [value, ...more]] of Object.entries(values)) {
    first[name] = value;
    if (more.length > 0) errors.push(`--${name}: must be given only once`);
  }
  const { data, error } = options.safeParse(first);
  for (const { path, message } of error?.issues ?? []) errors.push(`--${path.join('.')}: ${message}`);
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return data as never;
}

function parse(options: z.ZodObject, args: string[]): { values: Record<string, unknown[]> } {
  const known = Object.entries(options.shape).map(
    ([name, schema]) => [name, { type: schema === flag ? 'boolean' : 'string', multiple: true }] as const,
  );
  try {
    return parseArgs({ args: joinNegativeNumbers(args), options: Object.fromEntries(known) }) as {
      values: Record<string, unknown[]>;
    };
  } catch (error) {
    // Only the first sentence of Node's message is kept; the rest explains positional arguments, which no command has.
    throw new Error((error as Error).message.split(/\.\s|\n/, 1)[0]);
  }
}

/** Node's parser mistakes a value that begins with a dash for an option, unless it is written `--option=-5`. */
function joinNegativeNumbers(args: string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    if (/^-[\d.]/.test(arg) && joined.at(-1)?.startsWith('--')) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** The options of a command, such as `--email EMAIL [--name NAME]`. */
export function usage({ options }: Command): string {
  const words = Object.entries(options.shape).map(([name, schema]) => {
    const word = schema === flag ? `--${name}` : `--${name} ${name.toUpperCase()}`;
    return schema.safeParse(undefined).success ? `[${word}]` : word;
  });
  return words.join(' ');
}

/** The description of an option; an optional option has the description of its inner schema. */
const descriptionOf = (schema: z.ZodType): string | undefined =>
  schema.description ??
  (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? descriptionOf(schema.unwrap() as z.ZodType)
    : undefined);

/** The name with which the operator has called this program. */
export const invocation = calledAs('agent-engineering-platform-admin', 'npm run --silent admin --');

/** The output of `COMMAND --help`: what the command does, its options and an example. */
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

/** The output of `help`: every command with its options. */
export const helpOfAll = (commands: Readonly<Record<string, Command>>): string =>
  [
    `${invocation} COMMAND`,
    `${invocation} COMMAND --help`,
    '',
    ...Object.entries(commands).map(([name, one]) => `  ${`${name} ${usage(one)}`.trim()}\n      ${one.about}`),
    '  help\n      Shows this.',
    '  --version\n      Shows the release.',
  ].join('\n');

/** The command of that name. @throws when there is none */
export function commandNamed(commands: Readonly<Record<string, Command>>, name: string): Command {
  const command = Object.hasOwn(commands, name) && commands[name];
  if (!command) throw new Error(`There is no command ${name}; help lists the commands.`);
  return command;
}

/** The output of `help`, `help COMMAND` and `COMMAND --help`; null for other words. @throws when there is no such command */
export function requestedHelp(
  commands: Readonly<Record<string, Command>>,
  name: string,
  args: string[],
): string | null {
  const isHelp = (word: string | undefined) => word !== undefined && /^(help|--help|-h)$/.test(word);
  if (isHelp(name))
    return args[0] === undefined ? helpOfAll(commands) : helpOf(args[0], commandNamed(commands, args[0]));
  return args.some((word) => /^(--help|-h)$/.test(word)) ? helpOf(name, commandNamed(commands, name)) : null;
}
