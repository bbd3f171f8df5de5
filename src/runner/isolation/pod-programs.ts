// Programs in the containers of a pod, in JavaScript. The starter is the main program of a container of missions: it starts programs there
// for the runner, which is in another container of the pod. Its socket is in a folder that only these two containers share.

/** Reads the first line of a connection, at most 1 MiB, and leaves the rest unread. */
const readLine = `
const readLine = (from, done) => {
  let got = Buffer.alloc(0);
  const take = (bytes) => {
    got = Buffer.concat([got, bytes]);
    const end = got.indexOf(10);
    if (end < 0) return void (got.length > 2 ** 20 && from.destroy(new Error('a line is too long')));
    from.off('data', take).pause();
    if (end + 1 < got.length) from.unshift(got.subarray(end + 1));
    done(JSON.parse(got.subarray(0, end).toString()));
  };
  from.on('error', () => from.destroy()).on('data', take);
};`;

/**
 * The starter: a program that runs in each container of a pod and starts other programs there. The first line of a connection to the
 * starter states the purpose of the connection. `hold`: the container ends when this connection ends. `start`: the starter starts a
 * program, and kills the program when this connection ends. Any other connection requests the output or the errors of a started program, or
 * sends the program a signal. The starter gives each program an id in the variable `POD_PROGRAM`, which the child processes of the program
 * inherit. When a program ends, the starter kills all processes whose variable contains the id of this program. In a container that runs
 * only the starter and its programs, the starter then also kills every process that no longer descends from the starter, except a process
 * whose variable names a program that still runs.
 */
export const starterProgram = `
const { spawn } = require('node:child_process');
const { readdirSync, readFileSync, rmSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const { PassThrough } = require('node:stream');
const { socket, ports, server, holdMs } = JSON.parse(process.argv[1]);
// Without this limit, a container whose runner never connects would keep its pod.
const unheld = setTimeout(() => process.exit(1), holdMs);
const numbers = process.env.MISSION_PORTS.split(',').map(Number);
${readLine}
// Programs by id, until the connection that has started them ends.
const [started, killsBefore] = [new Map(), new Map()];
const attempt = (read, otherwise) => { try { return read(); } catch { return otherwise; } };
const outOfMemory = () => Number(/^oom_kill (\\d+)/m.exec(attempt(() => readFileSync('/sys/fs/cgroup/memory.events', 'utf8'), ''))?.[1] ?? 0);
// State and parent of each process.
const processes = () => new Map(readdirSync('/proc').filter(Number).flatMap((pid) => {
  const [, state, parent] = /\\) (\\S) (\\d+) [^)]*$/.exec(attempt(() => readFileSync('/proc/' + pid + '/stat', 'latin1'), '')) ?? [];
  return parent ? [[Number(pid), { state, parent: Number(parent) }]] : [];
}));
const programOf = (pid) => /(?:^|\\0)POD_PROGRAM=([^\\0]*)/.exec(attempt(() => readFileSync('/proc/' + pid + '/environ', 'latin1'), ''))?.[1];
const isWorking = (id) => { const { child } = started.get(id) ?? {}; return child && child.exitCode === null && child.signalCode === null; };
// The shell of the starter is the first process only in a container of its own; elsewhere, processes of other programs are visible.
const isAlone = process.ppid === 1;
const leftBy = (id) => {
  const all = processes();
  const isBelow = (pid) => pid > 1 && (pid === process.pid || isBelow(all.get(pid)?.parent ?? 0));
  return [...all].filter(([pid]) => {
    if (pid === 1 || pid === process.pid) return false;
    const program = programOf(pid);
    return program === id || (isAlone && !isBelow(pid) && !(program && isWorking(program)));
  });
};
const killAll = (id) => {
  // A process may start further processes until it is killed.
  for (let pass = 0; pass < 20; pass++) {
    const left = leftBy(id);
    for (const [pid] of left) attempt(() => process.kill(pid, 'SIGKILL'));
    if (left.every(([, { state }]) => state === 'Z')) return;
  }
};
const end = (id) => {
  const { child } = started.get(id) ?? {};
  if (child) attempt(() => process.kill(-child.pid, 'SIGKILL'));
  killAll(id);
};
const start = (from, { id, file, args, env, cwd }) => {
  killsBefore.set(id, outOfMemory());
  const child = spawn(file, args, { cwd, env: { PATH: process.env.PATH, ...env, POD_PROGRAM: id }, detached: true });
  const answer = (value) => from.write(JSON.stringify(value) + '\\n');
  // Node.js discards output that nothing reads when a program ends, which may be before the connections for the output exist.
  const [output, errors] = [child.stdout, child.stderr].map((from) => from.pipe(new PassThrough()));
  child.once('spawn', () => { started.set(id, { child, output, errors }); answer({ pid: child.pid }); });
  child.once('error', (error) => from.end(JSON.stringify({ error: error.message }) + '\\n'));
  child.stdin.on('error', () => {});
  child.once('exit', () => end(id));
  child.once('close', (code, signal) => {
    from.end(JSON.stringify({ code, signal }) + '\\n');
  });
  from.resume().once('end', () => end(id)).once('close', () => { end(id); started.delete(id); });
};
const accept = (from) => readLine(from, (asked) => {
  if (asked.hold) {
    clearTimeout(unheld);
    from.write('held\\n');
    return from.resume().once('end', () => { for (const id of started.keys()) end(id); process.exit(); }).once('close', () => process.exit());
  }
  if (asked.start) return start(from, asked.start);
  const { child, output, errors } = started.get(asked.id) ?? {};
  if (asked.signal) {
    if (asked.signal === 'SIGKILL') end(asked.id);
    else if (child) attempt(() => process.kill(-child.pid, asked.signal));
    return from.end(JSON.stringify({ isOverMemory: outOfMemory() > killsBefore.get(asked.id) }) + '\\n');
  }
  if (!child) return from.destroy();
  if (asked.part === 'errors') return void errors.pipe(from.resume());
  output.pipe(from);
  from.pipe(child.stdin);
});
const pass = (to) => (from) => {
  const out = to();
  from.on('error', () => out.destroy()).pipe(out).on('error', () => from.destroy()).pipe(from);
};
ports.forEach((target, at) => createServer(pass(() => connect(target))).listen(numbers[at], '127.0.0.1'));
if (server) {
  rmSync(server, { force: true });
  createServer(pass(() => connect(numbers.at(-1), '127.0.0.1'))).listen(server);
}
rmSync(socket, { force: true });
createServer({ allowHalfOpen: true }, accept).listen(socket);
`;

/** Exit code of a container engine for its own failure. */
export const starterFailed = 125;

/**
 * A program in the runner's container that stands for a program in another container: it passes on the input, the outputs and the exit code
 * of that program.
 */
export const clientProgram = `
const { connect } = require('node:net');
const [socket] = process.argv.slice(1);
const asked = JSON.parse(process.env.POD_PROGRAM);
${readLine}
const open = (first) => {
  const to = connect({ path: socket, allowHalfOpen: true });
  to.write(JSON.stringify(first) + '\\n');
  return to;
};
const fail = (why) => { console.error(why); process.exit(${starterFailed}); };
const gone = () => fail('the container of the mission has ended, which happens when it exceeds its memory limit');
const control = open({ start: asked });
control.on('error', gone);
readLine(control, (first) => {
  if (first.error) { console.error(first.error); process.exit(127); }
  const [out, errors] = [open({ id: asked.id, part: 'output' }), open({ id: asked.id, part: 'errors' })];
  process.stdin.on('error', () => out.end()).pipe(out);
  const parts = [out, errors].map((from, at) => new Promise((done) => {
    from.on('error', () => {}).on('close', done).on('end', done).pipe(at === 0 ? process.stdout : process.stderr, { end: false });
  }));
  let isOver = false;
  control.on('close', () => isOver || gone());
  readLine(control, ({ code, signal }) => {
    isOver = true;
    const end = signal ? 128 + require('node:os').constants.signals[signal] : code;
    Promise.all(parts).then(() => process.stdout.write('', () => process.exit(end)));
  });
  control.resume();
});
`;
