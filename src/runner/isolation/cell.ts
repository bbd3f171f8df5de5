// A cell around an agent, by bubblewrap: it sees the programs of the system, its harness and the folders of its mission, its own
// processes, and no network but the runner's gateway: a Unix socket, which becomes a loopback port inside.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { strongestWalls } from './bubblewrap.ts';
import type { Place } from './place.ts';

/** Inside: where the gateway is, and where a harness that is a server listens. */
export const ports = { gateway: 4_010, server: 4_096 };

/** What of the system an agent may read. */
const system = ['/usr', '/etc/ssl', '/etc/passwd', '/etc/group', '/etc/alternatives', '/etc/ld.so.cache', '/nix/store'];
const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];

/**
 * The program in the cell or container, in JavaScript: opens the port for the gateway, a socket for the server of a harness (exposed, if that is
 * not 0), and runs the harness.
 */
const inside = `
const { spawn } = require('node:child_process');
const { rmSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const [gateway, port, server, exposed, file, ...args] = process.argv.slice(1);
const pipe = (to) => (from) => {
  const out = to();
  from.on('error', () => out.destroy()).pipe(out).on('error', () => from.destroy()).pipe(from);
};
createServer(pipe(() => connect(gateway))).listen(Number(port), '127.0.0.1', () => {
  // What an earlier harness of the mission has left; a checkpoint is taken while one works.
  if (exposed !== '0') rmSync(server, { recursive: true, force: true });
  if (exposed !== '0') createServer(pipe(() => connect(Number(exposed), '127.0.0.1'))).listen(server);
  const child = spawn(file, args, { stdio: 'inherit' });
  // In a cell the harness gets signals of the group itself; in a container they come to this program.
  for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => process.pid === 1 && child.kill(name));
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + require('node:os').constants.signals[signal] : code));
});`;

/** Sockets of a mission; they lie in the folder that no file view of a script needs. */
export const socketsOf = ({ root }: Place) => ({ gateway: `${root}/gateway`, server: `${root}/server` });

/** The folder to show, so that a program finds what belongs to it: all packages, or where it is. */
export function packagesOf(program: string): string {
  const real = realpathSync(program);
  const at = real.indexOf('/node_modules/');
  return at < 0 ? path.dirname(real) : real.slice(0, at + '/node_modules'.length);
}

/** Sockets of its own around a program. `isServer`: the harness listens on `ports.server`. */
export function withSocketProxy(
  node: string,
  place: Place,
  program: string,
  args: string[],
  isServer: boolean,
): string[] {
  const sockets = socketsOf(place);
  const file = path.isAbsolute(program) ? realpathSync(program) : program;
  const exposed = String(isServer ? ports.server : 0);
  return [node, '--eval', inside, sockets.gateway, String(ports.gateway), sockets.server, exposed, file, ...args];
}

/** The command that runs a program with these arguments in a cell, after a prefix there. `isServer`: the harness listens on `ports.server`. */
export function inCell(
  place: Place,
  program: string,
  args: string[],
  isServer = false,
  prefix: string[] = [],
): [program: string, args: string[]] {
  const { work, home, artifacts, root, skills, isReadOnly } = place;
  const programFolders = [path.dirname(process.execPath), packagesOf(program)];
  const view = [
    ...system.flatMap((at) => ['--ro-bind-try', at, at]),
    ...links.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...programFolders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...[home, artifacts, root].flatMap((folder) => ['--bind', folder, folder]),
    ...[isReadOnly ? '--ro-bind' : '--bind', work, work, '--ro-bind', skills, skills],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--chdir', work],
  ];
  const identity = ['--uid', '1000', '--gid', '1000', '--hostname', 'cell'];
  const run = withSocketProxy(process.execPath, place, program, args, isServer);
  return ['bwrap', [...strongestWalls(), ...identity, ...view, '--', ...prefix, ...run]];
}
