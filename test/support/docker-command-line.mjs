// Docker's published command line (test/fixtures/docker.json), without Podman's additions: which options a command has, which
// values they take, and which of them exclude each other.
import { readFileSync } from 'node:fs';

const { commands } = JSON.parse(readFileSync(new URL('../fixtures/docker.json', import.meta.url), 'utf8'));

const refuse = (why) => {
  throw new Error(why);
};
const whole = /^-?\d+$/;
const valuesOf = { int: whole, int64: whole, decimal: /^\d+(\.\d+)?$/, bytes: /^-?\d+(\.\d+)?([kmgt]?b?|[kmgt]ib)$/i };

const mountKeys = ['type', 'source', 'target', 'readonly', 'bind-propagation', 'bind-recursive', 'tmpfs-size'];
const units = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
const bytesOf = (text) => Number.parseFloat(text) * units[/[bkmg]?$/i.exec(text)[0].toLowerCase()];

/** Members of `docker inspect` that the Engine API documents, without those that nobody reads. */
const members = { container: ['State', 'SizeRw', 'Mounts'], image: ['Id', 'Size'] };
const stateMembers = ['Pid', 'OOMKilled', 'Running'];

function checkValue(name, type, value) {
  if (value === undefined) refuse(`flag needs an argument: --${name}`);
  if (valuesOf[type] && !valuesOf[type].test(value)) refuse(`invalid argument "${value}" for "--${name}"`);
  if (type === 'mount')
    for (const [key, one] of value.split(',').map((field) => field.split('=')))
      if (!mountKeys.includes(key) || one === '') refuse(`invalid field '${key}' in '${value}'`);
}

/** Rules of Docker for values, beyond their types. */
const rules = [
  ({ userns: [userns = 'host'] }) => userns === 'host' || `--userns: invalid USER mode: ${userns}`,
  ({ hostname, network: [network = ''] }) =>
    !(hostname.length && network.startsWith('container:')) || 'conflicting options: hostname and the network mode',
  ({ memory: [memory] }) => !memory || bytesOf(memory) >= 6 * units.m || 'Minimum memory limit allowed is 6MB',
  ({ memory: [memory], 'memory-swap': [swap] }) =>
    !swap ||
    swap === '-1' ||
    (memory && bytesOf(swap) >= bytesOf(memory)) ||
    'Minimum memoryswap limit should be larger',
  ({ 'security-opt': opts }) =>
    opts.every((one) => /^(no-new-privileges|(seccomp|apparmor|label)=.+)$/.test(one)) || 'invalid --security-opt',
  ({ 'cap-add': adds, 'cap-drop': drops }) =>
    [...adds, ...drops].every((one) => /^[A-Z_]+$/.test(one)) || 'invalid capability',
  ({ mount }) => mount.every((one) => /\btype=/.test(one) && /\btarget=./.test(one)) || 'a mount needs type and target',
  ({ signal: [signal = 'KILL'] }) => /^(TERM|KILL|INT|HUP)$/.test(signal) || `invalid signal: ${signal}`,
];

function checkFormat(command, [format]) {
  const known = command === 'image inspect' ? members.image : members.container;
  for (const [, member, inner] of format?.matchAll(/\.([A-Za-z]+)(?:\.([A-Za-z]+))?/g) ?? [])
    if (!known.includes(member) || (inner && !stateMembers.includes(inner)))
      refuse(`template: can't evaluate field ${member}`);
}

/**
 * The parts of a command of Docker: options by name with their values, and the words after them. @throws for what Docker would refuse
 * @param {string[]} argv
 */
export function parseDocker(argv) {
  const two = argv.slice(0, 2).join(' ');
  const command = commands[two] ? two : argv[0];
  const published = commands[command] ?? refuse(`'${command}' is not a docker command.`);
  const args = argv.slice(command.split(' ').length);
  const options = Object.fromEntries(Object.keys(published).map((name) => [name, []]));
  const words = [];
  // `run` and `exec` read no options after their first word: those are the program's.
  const endsAtWord = ['run', 'exec'].includes(command);
  for (let at = 0; at < args.length; at++) {
    const name = args[at].startsWith('--') && !(endsAtWord && words.length) ? args[at].slice(2) : null;
    if (name === null) words.push(args[at]);
    else if (!Object.hasOwn(published, name)) refuse(`unknown flag: --${name}`);
    else if (published[name] === 'bool') options[name].push(true);
    else {
      checkValue(name, published[name], args[++at]);
      options[name].push(args[at]);
    }
  }
  const full = new Proxy(options, { get: (all, name) => all[name] ?? [] });
  for (const rule of rules) {
    const kept = rule(full);
    if (kept !== true) refuse(kept);
  }
  if (command.endsWith('inspect')) checkFormat(command, full.format);
  if (words.length === 0) refuse(`"docker ${command}" requires at least 1 argument.`);
  return { command, options: full, words };
}
