// A program of an attacker within a mission: tries to reach what is outside, and prints the names of what it has reached. Its argument is
// JSON with places and processes of others.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';

const others = JSON.parse(process.argv[2]);
const can = (work) => {
  try {
    return work();
  } catch {
    return false;
  }
};
const reads = (file, text = '') => can(() => readFileSync(file, 'latin1').includes(text));
const opens = (file, flags) => can(() => closeSync(openSync(file, flags)) === undefined);
const runs = (...command) => spawnSync(command[0], command.slice(1), { timeout: 10_000 }).status === 0;
const lists = (folder) => can(() => readdirSync(folder)) || [];
const processes = () => lists('/proc').filter(Number);
const reaches = (to) =>
  new Promise((done) => {
    const socket = connect({ ...to, timeout: 1_000 }, () => done(true) || socket.destroy());
    socket.on('error', () => done(false)).on('timeout', () => done(false) || socket.destroy());
  });
/** Whether the gateway answers with success. */
const answers = async (at, key) => {
  const address = new URL(at, process.env.ANTHROPIC_BASE_URL);
  return (await fetch(address, { method: 'POST', headers: { 'x-api-key': key }, body: '{}' })).ok;
};
const status = () => readFileSync('/proc/self/status', 'utf8');
const ofNeighbour = () =>
  lists(others.folder).filter((name) => reads(path.join(others.folder, name, 'work/a.txt'), others.word));

const attempts = {
  'a file that every user may read': () => reads(others.file),
  'the files of another mission': () => ofNeighbour().length > 0,
  'the folder of another mission': () => lists(others.folder).filter((name) => /^mission-/.test(name)).length > 1,
  'the temporary files of another mission': () => others.marks.some((mark) => existsSync(mark)),
  'the store of environments': () => lists(others.store).length > 0,
  'the source of the platform': () => reads(`${others.project}/package.json`),
  'the passwords of the machine': () => reads('/etc/shadow'),
  'the environment of the runner': () => processes().some((pid) => reads(`/proc/${pid}/environ`, others.key)),
  'the memory of the runner': () =>
    reads(`/proc/${others.runner}/cmdline`, 'runner') && opens(`/proc/${others.runner}/mem`, 'r'),
  'a process of the runner': () => processes().some((pid) => reads(`/proc/${pid}/cmdline`, others.program)),
  'a process of another mission': () => processes().some((pid) => reads(`/proc/${pid}/cmdline`, others.sleep)),
  'the end of the runner': () => can(() => process.kill(others.runner, 0)),
  'a file of the system': () =>
    ['/usr/mark', '/usr/local/bin/mark'].some((file) => opens(file, 'w')) || opens('/etc/passwd', 'r+'),
  'the program of its harness': () => opens(others.harness, 'r+'),
  'a mount': () => runs('mount', '-t', 'tmpfs', 'tmpfs', '/mnt') || runs('mount', '-t', 'tmpfs', 'tmpfs', '/tmp'),
  'a user namespace': () => runs('unshare', '--user', '--map-root-user', 'true'),
  'a device': () =>
    runs('mknod', '/tmp/device', 'b', '8', '0') ||
    ['/dev/mem', '/dev/kmsg', '/dev/vda', '/dev/sda'].some((at) => opens(at, 'r')),
  'a setting of the kernel': () =>
    ['/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/sys/fs/cgroup/cgroup.procs'].some((at) =>
      opens(at, 'r+'),
    ),
  'a capability': () => /^Cap(Prm|Eff|Bnd|Amb):\t0*[1-9a-f]/m.test(status()),
  'more privileges': () => !/^NoNewPrivs:\t1$/m.test(status()),
  'a network': () => Object.keys(networkInterfaces()).some((name) => name !== 'lo'),
  'the platform': () => reaches({ host: '127.0.0.1', port: others.platform }),
  'the model': () => reaches({ host: '127.0.0.1', port: others.model }),
  'a host': () => reaches({ host: '192.0.2.1', port: 80 }),
  'a daemon of the machine': async () => {
    for (const at of ['podman/podman.sock', 'docker.sock', 'dbus/system_bus_socket', 'systemd/private'])
      if (await reaches({ path: `/run/${at}` })) return true;
  },
  'the way out of another mission': async () => {
    for (const name of others.neighbours)
      for (const socket of ['gateway', 'egress'])
        if (await reaches({ path: path.join(others.folder, name, 'root', socket) })) return true;
  },
  'the gateway without its key': () => answers('/anthropic/v1/messages', 'guessed'),
  'a server of others by the gateway': async () => {
    for (const at of ['/mcp/others', '/graphql', '/anthropic/../graphql', '/anthropic/http://169.254.169.254/'])
      if (await answers(at, process.env.ANTHROPIC_API_KEY)) return true;
  },
  'any number of processes': () =>
    runs('sh', '-c', `i=0; while [ $i -lt ${others.processes} ]; do sleep 5 & i=$((i + 1)); done 2>/dev/null`),
};

// The test checks from outside whether these files were written: opening one may succeed inside a cell (isolation by
// bubblewrap), whose parent folders of mounted folders are in memory.
for (const file of others.outside) opens(file, 'w');
const reached = [];
for (const [name, attempt] of Object.entries(attempts))
  if (await Promise.resolve(attempt()).catch(() => false)) reached.push(name);
writeFileSync(path.join(process.env.ARTIFACTS, 'reached.json'), JSON.stringify(reached));
