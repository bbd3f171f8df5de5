// Finds the program that opened a connection from a mission to the proxy. Inside the cell or container, a listener accepts the connection,
// and tells the runner the port of the client (PROXY protocol, version 1). The runner, which is outside, then finds the client's process in
// /proc. If a mission sends a false port, the runner can only find the program of another connection of the same mission.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Duplex } from 'node:stream';

/** A line of the PROXY protocol has at most 107 bytes. */
const [maxHeaderBytes, firstLine] = [107, /^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 (\d{1,5}) (\d{1,5})\r\n/];

/** Maximum number of searches per second, because each reads all processes of the machine. */
const maxSearches = 20;

/** The two ports of a connection in the sandbox: the port of the client and the port of the proxy. */
interface Ports {
  client: number;
  proxy: number;
}

/** Reads the line of the PROXY protocol before the first request; null without such a line. The bytes after it stay unread. */
function readPorts(client: Duplex, done: (ports: Ports | null) => void): void {
  client.once('data', (first: Buffer) => {
    client.pause();
    const [line = '', from, to] = firstLine.exec(first.toString('latin1', 0, maxHeaderBytes)) ?? [];
    const rest = first.subarray(line.length);
    if (rest.length > 0) client.unshift(rest);
    done(line ? { client: Number(from), proxy: Number(to) } : null);
    client.resume();
  });
}

/** Reads from /proc; returns the alternative when the process has ended or belongs to somebody else. */
const attempt = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
const textOf = (file: string) => attempt(() => readFileSync(`/proc/${file}`, 'latin1'), '');
const linkOf = (file: string) => attempt(() => readlinkSync(`/proc/${file}`), '');
const namesIn = (folder: string) => attempt(() => readdirSync(`/proc/${folder}`), []);

/** The processes in each network namespace, except the runner's own. */
function networksOfOthers(): string[][] {
  const own = linkOf('self/ns/net');
  const networks = new Map<string, string[]>();
  for (const pid of namesIn('').filter((name) => /^\d+$/.test(name))) {
    const network = linkOf(`${pid}/ns/net`);
    if (network && network !== own) networks.set(network, [...(networks.get(network) ?? []), pid]);
  }
  return [...networks.values()];
}

/** The inode of the client's socket in the network of this process. */
function inodeOf(pid: string, { client, proxy }: Ports): string | undefined {
  const [from, to] = [client, proxy].map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  const sockets = ['tcp', 'tcp6'].flatMap((name) => textOf(`${pid}/net/${name}`).split('\n'));
  const found = sockets
    .map((line) => line.trim().split(/ +/))
    .find(([, at, of]) => at?.endsWith(from!) && of?.endsWith(to!));
  return found?.[9];
}

const interpreters = /^(node|nodejs|python[\d.]*|ruby|perl|php|bash|dash|sh|deno|bun)$/;
const maxNameLength = 64;

/** The name of a program, or of the script that an interpreter runs. Arguments are left out, because they could be secrets. */
export function nameOf(commandLine: string): string | null {
  const [first = '', second = '', third = ''] = commandLine.split('\0');
  // Some programs, such as `npm install`, set a title in place of their command line.
  const [name, script, module] = [first.split(' ')[0]!, second, third].map((text) => text.split('/').at(-1)!);
  const isScript = interpreters.test(name!) && second !== '' && !second.startsWith('-');
  const shown = isScript ? script! : interpreters.test(name!) && second === '-m' ? module! : name!;
  return shown.replace(/[^\x21-\x7e]/g, '?').slice(0, maxNameLength) || null;
}

/** Finds the program that opened the connection with these ports. @returns the name of the program; null if the program is unknown */
function findProgram(socket: string, ports: Ports): string | null {
  const own = networksOfOthers().filter((pids) => pids.some((pid) => textOf(`${pid}/cmdline`).includes(socket)));
  const candidates = own.flatMap((pids) => {
    const inode = inodeOf(pids[0]!, ports);
    return inode ? [{ pids, link: `socket:[${inode}]` }] : [];
  });
  // Cells of one mission may use the same port at the same time.
  if (candidates.length !== 1) return null;
  const [{ pids, link }] = candidates as [(typeof candidates)[number]];
  const owner = pids.find((pid) => namesIn(`${pid}/fd`).some((fd) => linkOf(`${pid}/fd/${fd}`) === link));
  return owner ? nameOf(textOf(`${owner}/cmdline`)) : null;
}

/**
 * Returns a function that finds the program behind a connection to the proxy. The function reads the ports from the beginning of the connection.
 * Before the first request is read, it calls `done` with the name of the program, or with null if the program is unknown.
 * @param socket Path of the proxy's socket. In each cell, the command line of the program that opens the proxy's port contains this path. The search
 * therefore recognizes by this path which network namespaces belong to the mission.
 */
export function openProgramSearch(socket: string) {
  let [second, searches] = [0, 0];
  return (client: Duplex, done: (program: string | null) => void): void =>
    readPorts(client, (ports) => {
      const now = Math.floor(performance.now() / 1_000);
      [second, searches] = now === second ? [second, searches + 1] : [now, 1];
      done(ports && searches <= maxSearches ? findProgram(socket, ports) : null);
    });
}
