// Parses a project's config file: the entries that MCP clients read from `.mcp.json`, in YAML or JSON. Displayed data contains no secret
// value: only names, and `${secret:NAME}` as written.
import { createHash } from 'node:crypto';
import { type Document, isAlias, isMap, isNode, isScalar, Lexer, Parser, parseDocument, visit } from 'yaml';
import { isPlainAddress } from '#foundation/http/addresses.ts';
import { type Isolation, isolationOf, type Launch, shownArguments } from './isolation.ts';

/** Maximum number of servers in a config file, and of bindings of a project. */
export const maxServers = 50;
export const maxFileBytes = 256 * 1024;
const maxDepth = 100;
const maxSecretRefs = 20;
const maxWarnings = 100;

export const serverNamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export interface Declared {
  name: string;
  transport: 'http' | 'stdio';
  /** Scheme, host and port of an http server. */
  origin: string | null;
  path: string | null;
  command: string | null;
  /** The arguments, without literal secrets. */
  displayArgs: string[];
  headerNames: string[];
  envNames: string[];
  /** Names of the secrets that the declaration refers to as `${secret:NAME}`. */
  secretRefs: string[];
  isolation: Isolation;
  /** The full URL. Neither the URL nor the declared headers are displayed. */
  url: string | null;
  headers: Record<string, string>;
  /** How a sandbox starts the server, with the declared environment variables; null means that the server does not run in a sandbox. */
  launch: (Launch & { env: Record<string, string> }) | null;
  /**
   * SHA-256 of the declaration. A binding stores the digest of the declaration that it was created for, so that later changes are detected.
   */
  digest: string;
}

export interface Declarations {
  servers: Declared[];
  warnings: string[];
}

/** Error for an invalid config file. The message is written for the author of the file. */
export class InvalidConfig extends Error {}

function invalid(message: string): never {
  throw new InvalidConfig(message);
}

/** Parses the text of a config file. @throws InvalidConfig */
export function parseConfig(text: string): Declarations {
  if (Buffer.byteLength(text) > maxFileBytes) invalid(`The file has more than ${maxFileBytes} bytes.`);
  const root = readDocument(text);
  const warnings: string[] = [];
  if (root === null) return { servers: [], warnings };
  if (!(root instanceof Map)) invalid('The file must be a mapping.');
  const declared = root.get('mcpServers') ?? new Map();
  if (!(declared instanceof Map)) invalid('mcpServers: must be a mapping of names to servers.');
  if (declared.size > maxServers) invalid(`mcpServers: must have at most ${maxServers} servers.`);
  const servers = [...declared].map(([name, server]) => readServer(name, server, warnings));
  return { servers, warnings: warnings.slice(0, maxWarnings) };
}

/** Parses YAML with maps as `Map`, so that a key such as `__proto__` has no special meaning. */
function readDocument(text: string): unknown {
  try {
    refuseDepth(text);
    // Duplicate keys are checked below, because the library compares each key with every other, which takes quadratic time.
    const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error', merge: false, prettyErrors: false });
    const [error] = document.errors;
    // The parser's message is not used: it may quote the file, and with it a secret.
    if (error) invalid(`The file is not valid YAML: ${error.code} in line ${lineOf(text, error.pos[0])}.`);
    refuseTricks(document);
    return document.toJS({ mapAsMap: true, maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof InvalidConfig) throw error;
    return invalid('The file is not valid YAML.');
  }
}

/**
 * Rejects deeply nested documents: the library parses by recursion, and a regular expression compiled near the end of the stack crashes
 * Node.
 */
function refuseDepth(text: string): void {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > maxDepth) invalid('The file is nested too deeply.');
  }
}

const lineOf = (text: string, position: number): number => text.slice(0, position).split('\n').length;

/**
 * Rejects aliases, which let a small file expand; tags, which change the type of text; and duplicate keys, which parsers resolve
 * differently.
 */
function refuseTricks(document: Document): void {
  visit(document, (_, node) => {
    if (isAlias(node)) invalid('The file must not contain aliases.');
    if (!isNode(node)) return;
    if ('anchor' in node && node.anchor) invalid('The file must not contain anchors.');
    if (node.tag) invalid('The file must not contain tags.');
    if (!isMap(node)) return;
    const keys = new Set<string>();
    for (const { key } of node.items) {
      const name = isScalar(key) ? String(key.value) : invalid('The keys of the file must be plain strings.');
      if (keys.has(name)) invalid(`The file has the key ${JSON.stringify(name.slice(0, 100))} twice.`);
      keys.add(name);
    }
  });
}

const keys = { http: ['type', 'url', 'headers'], stdio: ['type', 'command', 'args', 'env'] } as const;

function readServer(name: unknown, server: unknown, warnings: string[]): Declared {
  if (typeof name !== 'string' || !serverNamePattern.test(name)) {
    invalid('mcpServers: a name must be up to 64 letters, digits, _ or -, beginning with a letter or digit.');
  }
  const at = `mcpServers.${name}`;
  if (!(server instanceof Map)) invalid(`${at}: must be a mapping.`);
  const transport = transportOf(at, server);
  for (const key of server.keys()) {
    if ((keys[transport] as readonly unknown[]).includes(key)) continue;
    warnings.push(`${at}: ${JSON.stringify(String(key).slice(0, 100))} is unknown and ignored.`);
  }
  return transport === 'http' ? readRemote(name, at, server, warnings) : readCommand(name, at, server, warnings);
}

function transportOf(at: string, server: Map<unknown, unknown>): Declared['transport'] {
  const transport = server.has('url') ? 'http' : 'stdio';
  if (server.has('url') === server.has('command')) invalid(`${at}: must have either url or command.`);
  const type = server.get('type') ?? transport;
  if (type !== transport) invalid(`${at}.type: must be ${transport}, or absent.`);
  return transport;
}

const nothing = { origin: null, path: null, command: null, url: null, launch: null };
const lists = { displayArgs: [], headerNames: [], envNames: [], headers: {} };

function readRemote(name: string, at: string, server: Map<unknown, unknown>, warnings: string[]): Declared {
  const declaredValue = server.get('url');
  if (typeof declaredValue !== 'string' || declaredValue.length > 2_000 || !isPlainAddress(declaredValue)) {
    invalid(`${at}.url: must be an http or https URL without user, query or fragment.`);
  }
  const { href: url, origin, pathname: path } = new URL(declaredValue);
  const headers = texts(`${at}.headers`, server.get('headers'), warnings);
  for (const [header, value] of Object.entries(headers)) checkHeader(`${at}.headers.${header}`, header, value);
  const secretRefs = secretsOf(at, Object.values(headers));
  return {
    ...{ ...nothing, ...lists, name, transport: 'http', origin, path, url, headers, secretRefs },
    headerNames: Object.keys(headers),
    isolation: { kind: 'remote', packageSpec: null, reason: null },
    digest: digestOf({ url, headers }),
  };
}

function readCommand(name: string, at: string, server: Map<unknown, unknown>, warnings: string[]): Declared {
  const command = server.get('command');
  if (typeof command !== 'string' || command === '') invalid(`${at}.command: must be a string.`);
  const args = server.get('args') ?? [];
  if (!Array.isArray(args) || args.some((one) => typeof one !== 'string'))
    invalid(`${at}.args: must be a list of strings.`);
  const env = texts(`${at}.env`, server.get('env'), warnings);
  const { isolation, launch } = isolationOf(command, args);
  return {
    ...{ ...nothing, ...lists, name, transport: 'stdio', command },
    displayArgs: shownArguments(at, args, warnings),
    envNames: Object.keys(env),
    secretRefs: secretsOf(at, [...args, ...Object.values(env)]),
    isolation,
    launch: launch && { ...launch, env },
    digest: digestOf({ command, args, env }),
  };
}

/** A mapping of names to strings. A literal value causes a warning: it belongs among the credentials of the binding. */
function texts(at: string, declaredValue: unknown, warnings: string[]): Record<string, string> {
  if (declaredValue === undefined || declaredValue === null) return {};
  if (!(declaredValue instanceof Map)) invalid(`${at}: must be a mapping of names to strings.`);
  const pairs = [...declaredValue].map(([name, value]): [string, string] => {
    if (typeof name !== 'string' || !/^[\w-]{1,100}$/.test(name))
      invalid(`${at}: a name may contain only letters, digits, _ and -.`);
    if (!['string', 'number', 'boolean'].includes(typeof value)) invalid(`${at}.${name}: must be a string.`);
    if (!String(value).includes('${secret:')) {
      warnings.push(`${at}.${name}: holds a literal value; write \${secret:NAME} and add the value to the binding.`);
    }
    return [name, String(value)];
  });
  return Object.fromEntries(pairs);
}

/** Headers that a config file must not set, because the protocol sets them or because they could split one request into two. */
const reserved = /^(accept|connection|content-.*|cookie|host|mcp-.*|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

function checkHeader(at: string, header: string, value: string): void {
  if (reserved.test(header)) invalid(`${at}: is set by the protocol; remove this header.`);
  if (!/^[\x20-\x7e]{0,4000}$/.test(value)) invalid(`${at}: must be one line of printable ASCII characters.`);
}

const secretPattern = /\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

function secretsOf(at: string, values: readonly string[]): string[] {
  for (const value of values) {
    if (value.replace(secretPattern, '').includes('${')) invalid(`${at}: must contain \${ only as \${secret:NAME}.`);
  }
  const names = [...new Set(values.flatMap((value) => [...value.matchAll(secretPattern)].map(([, name]) => name!)))];
  if (names.length > maxSecretRefs) invalid(`${at}: must name at most ${maxSecretRefs} secrets.`);
  return names;
}

/** The text with secret references replaced by their values. */
export const withSecrets = (text: string, secrets: Readonly<Record<string, string>>): string =>
  text.replace(secretPattern, (_, name: string) => secrets[name] ?? '');

const digestOf = (declaration: object): string =>
  createHash('sha256').update(JSON.stringify(declaration)).digest('hex');
