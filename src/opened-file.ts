// `open FILE`: shows the organization of a file in the console of this machine. The file is imported into an embedded database in a
// temporary folder, which is removed at the end; nothing can be changed, and no job, mail or request to other systems is sent.
import { chmodSync, createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Joined, joinOrganization, organizationIn } from '#domain/lifecycle/organization-files/join.ts';
import { ownersOf } from '#domain/organization/memberships/operations.ts';
import { openNetworks } from '#domain/organization/organizations/allowed-networks.ts';
import { createSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { type Addresses, organizationPath } from '#foundation/http/addresses.ts';
import { database } from '#foundation/postgres/database.ts';
import { migrate } from '#foundation/postgres/migrations.ts';
import { asService, unrecorded } from '#foundation/postgres/origin.ts';
import { bindReadOnly } from '#foundation/read-only.ts';
import type { RunningService } from '#foundation/workers.ts';

interface Service<Config, Services> {
  readConfig: (env: NodeJS.ProcessEnv) => Config;
  openServices: (config: Config) => Promise<Services>;
  serve: (config: Config, services: Services) => Promise<RunningService>;
}

/** Resolves when the console is shown. SIGINT and SIGTERM end the service and delete its folder. @throws when the file cannot be opened */
export async function openFile<Config extends { addresses: Addresses }, Services extends { close(): Promise<void> }>(
  args: string[],
  { readConfig, openServices, serve }: Service<Config, Services>,
): Promise<void> {
  const { file, secretFile, port } = readArguments(args);
  const secret = secretFile ? (await readFile(secretFile, 'utf8')).trim() : await readSecret();
  await organizationIn(file, secret);
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-open-'));
  // If this process runs as root, the embedded database runs under another account, which must be able to enter this folder.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  const config = readConfig({
    ...{ HOST: '127.0.0.1', PORT: String(port ?? (await freePort())) },
    ...{ DATA_DIR: folder, SCHEDULER: 'off', LOG_LEVEL: 'warn' },
  });
  const opening = openServices(config);
  let front: RunningService | undefined;
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      const services = await opening.catch(() => undefined);
      await front?.close();
      await services?.close();
      rmSync(folder, { recursive: true, force: true });
    })();
    return closed;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void close().finally(() => process.exit(front ? 0 : 130)));
  try {
    const services = await opening;
    await migrate(database());
    const joined = await asService('operator', 'operator', 'open', () =>
      joinOrganization(createReadStream(file), secret, { acceptsClosed: true }),
    );
    // This machine need not be in the networks that the organization allows.
    await unrecorded(() => openNetworks(joined.organization.id));
    const email = await ownerOf(joined);
    const link = () => createSignInLink(email);
    bindReadOnly();
    front = await serve(config, services);
    console.log(shown(joined, config.addresses, await link()));
    if (process.stdin.isTTY)
      createInterface({ input: process.stdin }).on('line', () => void link().then((url) => console.log(url)));
  } catch (error) {
    const isEnding = closed !== undefined;
    await close();
    // A signal that ends the service while the file is opened makes the opening fail, which is no error.
    if (!isEnding) throw error;
  }
}

function readArguments(args: string[]): { file: string; secretFile: string | undefined; port: number | undefined } {
  const { values, positionals } = parseArgs({
    args,
    options: { 'passphrase-file': { type: 'string' }, port: { type: 'string' } },
    allowPositionals: true,
  });
  const [file, more] = positionals;
  if (file === undefined || more !== undefined)
    throw new Error('The command open needs the path of one file that the command org:pack has written.');
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  return {
    file,
    secretFile: values['passphrase-file'],
    port: values.port === undefined ? undefined : Number(values.port),
  };
}

async function readSecret(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  process.stderr.write('Passphrase of the file: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => reject(new Error('No passphrase was entered.')));
    lines.once('line', resolve);
    lines.once('line', () => lines.close());
    lines.once('close', () => {
      process.stderr.write('\n');
      reject(new Error('No passphrase was entered.'));
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function ownerOf({ organization }: Joined): Promise<string> {
  const [email] = await ownersOf(organization.id);
  if (email === undefined) throw new Error(`${organization.name} has no owner to sign in as.`);
  return email;
}

const shown = ({ organization, from }: Joined, { issuer }: Addresses, link: string): string =>
  [
    `${organization.name}, read-only, as packed at ${from}: ${issuer}${organizationPath(organization.slug)}`,
    `Sign in with this link, which is valid once and for ten minutes (Enter prints another): ${link}`,
    'Ctrl-C ends it and removes everything.',
  ].join('\n');
