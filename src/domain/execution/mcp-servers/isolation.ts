// Decides where a declared command may run: in the mission's sandbox if it is a pinned package or a file of the repository, otherwise
// nowhere. Also hides secrets in its displayed arguments.

export const isolationKinds = ['remote', 'sandbox', 'refused'] as const;
export const refusalReasons = ['python', 'unpinned', 'shell', 'unknown-command'] as const;

/** A command that may run in a sandbox: its packages, its program and its arguments as declared. */
export interface Launch {
  /** Packages to install, each as `name@version`. */
  packages: string[];
  /**
   * Program to start: one of the packages' programs, or `node`. Null means the package's only program, or the program with the package's name.
   */
  program: string | null;
  args: string[];
}

export interface Isolation {
  kind: (typeof isolationKinds)[number];
  /** The package to run, as `name@version`. */
  packageSpec: string | null;
  /** Reason why the command is refused. */
  reason: (typeof refusalReasons)[number] | null;
}

const pythons = /^(python[\d.]*|uvx?|pipx?[\d.]*|poetry|conda)$/;
const shells = /^(ba|z|da|fi|k|c|tc)?sh$|^(cmd|powershell|pwsh)(\.exe)?$/;

/** Decides where a command runs. `launch` is null when the command is refused. */
export function isolationOf(command: string, args: readonly string[]): { isolation: Isolation; launch: Launch | null } {
  const found = readCommand(command, args);
  if (typeof found === 'string')
    return { isolation: { kind: 'refused', packageSpec: null, reason: found }, launch: null };
  return { isolation: { kind: 'sandbox', packageSpec: found.packages[0] ?? null, reason: null }, launch: found };
}

type Refusal = (typeof refusalReasons)[number];

function readCommand(command: string, args: readonly string[]): Launch | Refusal {
  const program = command.split('/').at(-1)!;
  if (pythons.test(program)) return 'python';
  if (shells.test(program)) return 'shell';
  if (command === 'npx' || command === 'bunx') return ofPackage(args);
  if (command === 'node') return ofFile(args);
  return 'unknown-command';
}

/** An exact version: a range or a tag may resolve to another package later. */
const pinned = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*@\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;

function ofPackage(args: readonly string[]): Launch | Refusal {
  if (args.some((arg) => /^(-c|--call)(=|$)/.test(arg))) return 'shell';
  const specs: string[] = [];
  let i = 0;
  for (; args[i]?.startsWith('-'); i++) {
    const [flag, value] = args[i]!.split('=', 2) as [string, string?];
    if (flag === '-p' || flag === '--package') specs.push(value ?? args[++i] ?? '');
    else if (!['-y', '--yes', '-q', '--quiet', '--bun'].includes(flag)) return 'unpinned';
  }
  const named = args[i] ?? '';
  const packages = specs.length > 0 ? specs : [named];
  if (!packages.every((spec) => pinned.test(spec))) return 'unpinned';
  return { packages, program: specs.length > 0 ? named || null : null, args: args.slice(i + 1) };
}

/** A file of the repository is pinned by its commit. Code on the command line is refused, because it is equivalent to a shell. */
function ofFile(args: readonly string[]): Launch | Refusal {
  const [file = ''] = args;
  if (file.startsWith('-') || file === '') return /^(-e|-p|--eval|--print)/.test(file) ? 'shell' : 'unpinned';
  if (file.startsWith('/') || file.split('/').includes('..')) return 'unpinned';
  return { packages: [], program: 'node', args: [...args] };
}

const secretName = /(token|secret|password|passwd|api[-_]?key|auth|credential|private[-_]?key)/i;
/** Known token formats, the value of an Authorization header, and URLs with a password. */
const secretValue =
  /^(sk-|ghp_|gho_|github_pat_|glpat-|xox[abposr]-|AKIA|eyJ)|\b(bearer|basic)\s+\S|authorization\s*:|\/\/[^/@\s]*:[^/@\s]+@/i;
const hidden = '[hidden]';

/** Returns the arguments, with literal secrets hidden. Each argument with a literal secret adds a warning. */
export function shownArguments(at: string, args: readonly string[], warnings: string[]): string[] {
  return args.map((arg, i) => {
    const [name, value] = splitAt(arg, arg.indexOf('='));
    const before = args[i - 1] ?? '';
    const afterFlag = /^-[^=]*$/.test(before) && secretName.test(before) && !arg.startsWith('-');
    const assigned = value !== undefined && secretName.test(name);
    if (arg.includes('${secret:') || !(afterFlag || assigned || secretValue.test(value ?? arg))) return arg;
    warnings.push(
      `${at}.args.${i}: looks like a literal secret; write \${secret:NAME} and add the value to the binding.`,
    );
    return value === undefined ? hidden : `${name}=${hidden}`;
  });
}

const splitAt = (text: string, at: number): [string, string?] =>
  at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
