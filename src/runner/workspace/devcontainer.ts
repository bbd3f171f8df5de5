// Reads `.devcontainer/devcontainer.json`, in which a repository describes its environment (containers.dev). Unsupported members are named
// in the log and have no effect.
import path from 'node:path';
import { openInside } from '../isolation/inside.ts';

export interface Devcontainer {
  image: string | null;
  /** Path of the Dockerfile in the checkout. */
  dockerfile: string | null;
  variables: Record<string, string>;
  /** Shell commands of the setup, in the order in which they run. */
  commands: string[];
  /** Names of fields of the file that are not supported. */
  ignored: string[];
}

const files = ['.devcontainer/devcontainer.json', '.devcontainer.json'];
const maxBytes = 256 * 1024;
const hooks = ['onCreateCommand', 'updateContentCommand', 'postCreateCommand'];
const known = ['name', 'image', 'build', 'containerEnv', ...hooks, '$schema'];

/** The devcontainer of the repository; null if it has none. @param checkout A real path. @throws when it cannot be read */
export async function readDevcontainer(checkout: string): Promise<Devcontainer | null> {
  for (const file of files) {
    const text = await readText(checkout, file);
    if (text === null) continue;
    try {
      return parseDevcontainer(text, path.dirname(file));
    } catch (error) {
      throw new Error(`${file} cannot be read: ${(error as Error).message}`);
    }
  }
  return null;
}

/** A file of the checkout; null means there is none. Links are not followed out of it. */
export async function readText(checkout: string, file: string): Promise<string | null> {
  const opened = await openInside(checkout, path.join(checkout, file)).catch(() => null);
  if (!opened) return null;
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    if (bytesRead > maxBytes) throw new Error(`${file} is longer than ${maxBytes} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await opened.close();
  }
}

/** Parses JSON that may have comments, and commas before a closing bracket. */
function parseJsonc(text: string): unknown {
  const string = '"(?:\\\\.|[^"\\\\])*"';
  const uncommented = text.replace(new RegExp(`${string}|//.*|/\\*[\\s\\S]*?\\*/`, 'g'), (found) =>
    found.startsWith('"') ? found : ' ',
  );
  const plain = uncommented.replace(new RegExp(`${string}|,(?=\\s*[}\\]])`, 'g'), (found) =>
    found === ',' ? '' : found,
  );
  return JSON.parse(plain.replace(/^\uFEFF/, ''));
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parseDevcontainer(text: string, folder: string): Devcontainer {
  const found = parseJsonc(text);
  if (!isObject(found)) throw new Error('the content is not a JSON object');
  const build = isObject(found.build) ? found.build : {};
  const dockerfile = typeof build.dockerfile === 'string' ? path.normalize(path.join(folder, build.dockerfile)) : null;
  const entries = isObject(found.containerEnv) ? Object.entries(found.containerEnv) : [];
  const isVariable = ([name, value]: [string, unknown]) =>
    /^[A-Za-z_]\w*$/.test(name) && typeof value === 'string' && !value.includes('${');
  return {
    image: typeof found.image === 'string' ? found.image : null,
    dockerfile,
    variables: Object.fromEntries(entries.filter(isVariable)) as Record<string, string>,
    commands: hooks.flatMap((hook) => commandsOf(found[hook])),
    ignored: [
      ...Object.keys(found).filter((name) => !known.includes(name)),
      ...Object.keys(build)
        .filter((name) => name !== 'dockerfile')
        .map((name) => `build.${name}`),
      ...entries.filter((entry) => !isVariable(entry)).map(([name]) => `containerEnv.${name}`),
    ],
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** A string is a shell command, a list is a program with its arguments, and an object contains several such commands. */
function commandsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() ? [value] : [];
  if (Array.isArray(value)) return value.length > 0 ? [value.map((word) => quoted(String(word))).join(' ')] : [];
  return isObject(value) ? Object.values(value).flatMap((one) => (isObject(one) ? [] : commandsOf(one))) : [];
}
