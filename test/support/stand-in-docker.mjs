#!/usr/bin/env node
// A stand-in for Docker's command line: rejects commands that Docker would reject (docker-command-line.mjs) or that omit what a runner
// must not omit, and otherwise does what is possible without an engine: with bubblewrap if that works (files, network, capabilities,
// processes), else as a plain process with the requested user, variables and folder. Like Docker's, a container outlives its client.
// `DOCKER_HOST=file:///FOLDER` is its state folder; a file `NAME.oom` there ends the container NAME as out of memory.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocker } from './docker-command-line.mjs';

const state = fileURLToPath(process.env.DOCKER_HOST);
appendFileSync(path.join(state, 'commands'), `${JSON.stringify(process.argv.slice(2))}\n`);
const refuse = (why, code = 125) => {
  console.error(`docker: ${why}`);
  process.exit(code);
};
const { command, options, words } = parsed(process.argv.slice(2));
const fileOf = (name) => path.join(state, `${name}.pid`);
const pidOf = (name) =>
  existsSync(fileOf(name)) ? Number(readFileSync(fileOf(name))) : refuse(`No such container: ${name}`, 1);
const signal = (pid, name) => {
  try {
    process.kill(pid, name);
  } catch {}
};
/** The first process in the container. */
const firstOf = (pid) => {
  if (!existsSync(`/proc/${pid}`)) refuse('the container is not running', 1);
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return child ? Number(child) : pid;
};

/** Required options of an agent's container. */
const walls = { network: 'none', 'cap-drop': 'ALL', 'security-opt': 'no-new-privileges', 'read-only': true };

function parsed(args) {
  try {
    return parseDocker(args);
  } catch (error) {
    return refuse(error.message);
  }
}

function run([image, ...args]) {
  for (const [name, value] of Object.entries(walls))
    if (options[name][0] !== value) refuse(`--${name} must be ${value}`);
  for (const name of ['memory', 'memory-swap', 'pids-limit', 'user', 'workdir'])
    if (!options[name][0]) refuse(`--${name} is missing`);
  const runtime = options.runtime[0] ?? 'runc';
  if (runtime !== 'runc') refuse(`Error response from daemon: unknown or invalid runtime name: ${runtime}`);
  if (!image || image === 'nowhere') refuse(`Unable to find image '${image}'`);
  const mounts = options.mount.map((text) => Object.fromEntries(text.split(',').map((one) => one.split('='))));
  for (const { type, source } of mounts) {
    if (type !== 'bind' || !existsSync(source)) refuse(`invalid mount ${source}`);
    if (source === '/' || /docker\.sock$/.test(source)) refuse('that is no mount for an agent');
  }
  if ((statSync(options['env-file'][0]).mode & 0o077) !== 0) refuse('others can read the variables');
  const variables = readFileSync(options['env-file'][0], 'utf8').trim().split('\n').filter(Boolean);
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    ...Object.fromEntries(
      variables.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
  };
  const [uid, gid] = options.user[0].split(':').map(Number);
  const account = process.getuid() === 0 ? { uid, gid } : {};
  const [workdir, entrypoint] = [options.workdir[0], options.entrypoint[0]];
  const bwrap = spawnSync('sh', ['-c', 'command -v bwrap']).stdout.toString().trim();
  const hasCell = bwrap && spawnSync(bwrap, ['--unshare-all', '--ro-bind', '/', '/', 'true'], account).status === 0;
  // Outside of a cell the kernel counts all processes of an ordinary user, including those of the test run.
  const limits =
    process.getuid() !== 0 && !hasCell ? ['env'] : ['prlimit', `--nproc=${options['pids-limit'][0]}`, '--'];
  const system = ['/usr', '/etc', path.dirname(process.execPath)].flatMap((at) => ['--ro-bind', at, at]);
  const view = [
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', ...system],
    ...mounts.flatMap(({ source, target, readonly }) => [
      readonly === undefined ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
  ];
  const cell = [
    '--unshare-all',
    '--unshare-user',
    '--uid',
    uid,
    '--gid',
    gid,
    '--as-pid-1',
    '--cap-drop',
    'ALL',
    ...view,
  ].map(String);
  const [file, before] = hasCell
    ? [bwrap, [...cell, '--chdir', workdir, '--', ...limits]]
    : [limits[0], limits.slice(1)];
  const own = options.name[0];
  if (existsSync(fileOf(own))) refuse(`the name ${own} is in use`);
  const child = spawn(file, [...before, entrypoint, ...args], { ...account, cwd: workdir, env, detached: true });
  writeFileSync(fileOf(own), String(child.pid));
  process.stdin.pipe(child.stdin).on('error', () => {});
  child.stdout.pipe(process.stdout);
  child.stderr.pipe(process.stderr);
  child.on('error', (error) => refuse(error.message, 127));
  child.on('exit', (code, by) => {
    process.exitCode = by ? 137 : code;
    process.stdin.destroy();
  });
}

const name = words[0];
switch (command) {
  case 'run':
    run(words);
    break;
  case 'kill':
    signal(firstOf(pidOf(name)), `SIG${options.signal[0]}`);
    break;
  case 'inspect':
    if (options.format[0].includes('Pid')) console.log(pidOf(name));
    else if (pidOf(name)) console.log(existsSync(path.join(state, `${name}.oom`)));
    break;
  case 'rm':
    // Like Docker's and Podman's `rm --force`, which does not fail for a container that is gone.
    if (options.force[0] && !existsSync(fileOf(name))) break;
    signal(-pidOf(name), 'SIGKILL');
    rmSync(fileOf(name));
    break;
  default:
    refuse(`the stand-in cannot do ${command}`);
}
