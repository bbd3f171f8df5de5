// A cell around an agent or a script, created by bubblewrap. It sees the programs of the system, its harness, the folders of its mission
// and its own processes. Its only network access is through sockets of the runner, which become loopback ports inside: the gateway to
// models and MCP servers, and the proxy to the hosts of its network policy.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { unprivilegedOptions } from './bubblewrap.ts';
import type { Place } from './place.ts';

/** Ports inside a cell: of the gateway, of the proxy, and of a harness that is a server. */
export const ports = { gateway: 4_010, egress: 4_011, server: 4_096 };

/** Fixed paths of the folders of a mission inside its cell, because a setup may write them into files. */
export const commonPaths = { work: '/mission/work', home: '/mission/home' };

/** System files that a mission may read. */
const settings = [
  'ssl',
  'pki',
  'ca-certificates',
  'passwd',
  'group',
  'alternatives',
  'ld.so.cache',
  'localtime',
  'java',
  'maven',
];
const system = ['/usr', '/opt', '/nix/store', ...settings.map((name) => `/etc/${name}`)];
const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];

/**
 * The JavaScript program that runs in the cell or container and starts the harness there. It listens on ports, and connects each of them to
 * a socket of the runner. If `exposed` is not 0, the harness is a server on this port, and the program also creates a socket that leads to
 * this port. If the mission has services in the same network, the program accepts only connections from processes that it can see in /proc.
 * It cannot see the processes of the services, so it refuses their connections.
 */
const inside = `
const { spawn } = require('node:child_process');
const { readdirSync, readFileSync, readlinkSync, rmSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const [routes, isShared, server, exposed, file, ...args] = process.argv.slice(1);
const attempt = (read, otherwise) => { try { return read(); } catch { return otherwise; } };
const isOwn = ({ remotePort, localPort }) => {
  const [from, to] = [remotePort, localPort].map((port) => ':' + port.toString(16).toUpperCase().padStart(4, '0'));
  const sockets = ['tcp', 'tcp6'].flatMap((name) => attempt(() => readFileSync('/proc/net/' + name, 'utf8'), '').split('\\n'));
  const found = sockets.map((line) => line.trim().split(/ +/)).find(([, at, of]) => at?.endsWith(from) && of?.endsWith(to));
  const links = readdirSync('/proc').filter(Number).flatMap((pid) => {
    const files = '/proc/' + pid + '/fd/';
    return attempt(() => readdirSync(files), []).map((fd) => attempt(() => readlinkSync(files + fd)));
  });
  return found !== undefined && links.includes('socket:[' + found[9] + ']');
};
const pipe = (to) => (from) => {
  const out = to(from);
  from.on('error', () => out.destroy()).pipe(out).on('error', () => from.destroy()).pipe(from);
};
const open = ([port, socket, isNamed]) => new Promise((done) => {
  const pass = pipe(({ remotePort }) => {
    const out = connect(socket);
    // The runner identifies the program by the port of the connection.
    if (isNamed) out.write('PROXY TCP4 127.0.0.1 127.0.0.1 ' + remotePort + ' ' + port + '\\r\\n');
    return out;
  });
  const accept = (from) => (isShared === 'true' && !isOwn(from) ? from.destroy() : pass(from));
  createServer(accept).listen(port, '127.0.0.1', done);
});
Promise.all(JSON.parse(routes).map(open)).then(() => {
  // The previous harness of the mission may have left this socket. A checkpoint has no server, and may run while a harness uses the socket.
  if (exposed !== '0') rmSync(server, { recursive: true, force: true });
  if (exposed !== '0') createServer(pipe(() => connect(Number(exposed), '127.0.0.1'))).listen(server);
  const child = spawn(file, args, { stdio: 'inherit' });
  // In a cell the harness itself gets signals to the process group; in a container this program gets them.
  for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => process.pid === 1 && child.kill(name));
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + require('node:os').constants.signals[signal] : code));
});`;

/** The paths of a mission's sockets. The sockets are in `root`, one of the mission's folders. */
export const socketsOf = ({ root }: Place) => ({
  gateway: `${root}/gateway`,
  egress: `${root}/egress`,
  server: `${root}/server`,
});

/** The folder to mount, so that a program finds its dependencies: all packages, or the program's folder. */
export function packagesOf(program: string): string {
  const real = realpathSync(program);
  const at = real.indexOf('/node_modules/');
  return at < 0 ? path.dirname(real) : real.slice(0, at + '/node_modules'.length);
}

/**
 * The command that runs a program in a network of its own, connected to the gateway and the proxy by sockets of the mission. @param
 * isServer Whether the program is a harness that listens on `ports.server`. @param isShared Whether services of the mission are in the same
 * network.
 */
export function withSocketProxy(
  node: string,
  place: Place,
  program: string,
  args: string[],
  isServer: boolean,
  isShared = false,
): string[] {
  const sockets = socketsOf(place);
  const file = path.isAbsolute(program) ? realpathSync(program) : program;
  const exposed = String(isServer ? ports.server : 0);
  const routes = JSON.stringify([
    [ports.gateway, sockets.gateway, false],
    [ports.egress, sockets.egress, true],
  ]);
  return [node, '--eval', inside, routes, String(isShared), sockets.server, exposed, file, ...args];
}

/**
 * The command that runs a program with its arguments in a cell. @param isServer Whether the program is a harness that listens on
 * `ports.server`. @param prefix Words that stand before the command. @param hasDevice Whether the program controls a terminal device.
 */
export function inCell(
  place: Place,
  program: string,
  args: string[],
  isServer = false,
  prefix: string[] = [],
  hasDevice = false,
): [program: string, args: string[]] {
  const programFolders = path.isAbsolute(program) ? [packagesOf(program)] : [];
  const run = withSocketProxy(process.execPath, place, program, args, isServer);
  const around = hasDevice ? isolationOptions().filter((option) => option !== '--new-session') : isolationOptions();
  return ['bwrap', [...around, ...viewOf(place, programFolders), '--', ...prefix, ...run]];
}

const isolationOptions = () => [...unprivilegedOptions(), '--uid', '1000', '--gid', '1000', '--hostname', 'cell'];

/** The command that runs a program in a cell without ports. */
export const inBareCell = (place: Place, prefix: string[], command: string[]): [program: string, args: string[]] => [
  'bwrap',
  [...isolationOptions(), ...viewOf(place, []), '--', ...prefix, ...command],
];

/** Options that make files and folders of the machine visible in a cell. */
function viewOf(place: Place, programFolders: string[]): string[] {
  const { file, work, home, artifacts, root, skills, trust, isReadOnly } = place;
  const node = path.dirname(process.execPath);
  // npm is in the same installation as Node.js.
  const packages = path.join(node, '../lib/node_modules');
  const defaultPaths = ['/usr/local/bin', '/usr/bin', '/bin'];
  const searched = [...defaultPaths, ...(defaultPaths.includes(node) ? [] : [node]), `${commonPaths.home}/.local/bin`];
  return [
    ...system.flatMap((at) => ['--ro-bind-try', at, at]),
    ...links.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...[node, ...programFolders].flatMap((folder) => ['--ro-bind', folder, folder]),
    ...[packages, ...(trust ? [trust.path] : [])].flatMap((at) => ['--ro-bind-try', at, at]),
    ...[home, artifacts, root].flatMap((folder) => ['--bind', folder, folder]),
    ...[work, commonPaths.work].flatMap((at) => [isReadOnly ? '--ro-bind' : '--bind', work, at]),
    ...['--bind', home, commonPaths.home],
    ...[skills, file].flatMap((at) => ['--ro-bind', at, at]),
    ...['--setenv', 'PATH', searched.join(':'), '--chdir', work],
  ];
}
