// Completion for bash, zsh and fish: the names of commands and options, read from the program.
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'];

/**
 * Returns the subcommands and options that may follow each command. A key of the map is the words of the command after `aep`, such as
 * `projects list`; the key of `aep` itself is `''`.
 */
function wordsOf(program: Command): Map<string, { commands: Command[]; options: string[] }> {
  const found = new Map<string, { commands: Command[]; options: string[] }>();
  const globals = program.options.map(({ long }) => long!);
  const visit = (command: Command, path: string[]) => {
    const commandOptions = command === program ? [] : command.options.map(({ long }) => long!);
    found.set(path.join(' '), { commands: [...command.commands], options: [...commandOptions, ...globals, '--help'] });
    for (const child of command.commands) visit(child, [...path, child.name()]);
  };
  visit(program, []);
  return found;
}

export function completionScript(program: Command, shell: string): string {
  if (shell === 'fish') return fish(program);
  const cases = [...wordsOf(program)].map(
    ([path, { commands, options }]) =>
      `    '${path}') words='${[...commands.map((one) => one.name()), ...options].join(' ')}' ;;`,
  );
  const bash = `_aep() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case "$path" in *' '*) ;; *) path="\${path:+$path }$word" ;; esac ;; esac
  done
  case "$path" in
${cases.join('\n')}
    *) case "\${path%% *}" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _aep aep`;
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

function fish(program: Command): string {
  const lines = ['complete -c aep -n __fish_use_subcommand -f'];
  const add = (command: Command, condition: string) => {
    for (const child of command.commands) {
      lines.push(`complete -c aep -f -n ${quoted(condition)} -a ${child.name()} -d ${quoted(child.description())}`);
    }
  };
  add(program, '__fish_use_subcommand');
  for (const child of program.commands) {
    const names = child.commands.map((one) => one.name());
    const inside = `__fish_seen_subcommand_from ${child.name()}`;
    if (names.length > 0) add(child, `${inside}; and not __fish_seen_subcommand_from ${names.join(' ')}`);
    for (const leaf of names.length > 0 ? child.commands : [child]) {
      const condition = leaf === child ? inside : `${inside}; and __fish_seen_subcommand_from ${leaf.name()}`;
      for (const { long, description } of leaf.options) {
        lines.push(`complete -c aep -n ${quoted(condition)} -l ${long!.slice(2)} -d ${quoted(description)}`);
      }
    }
  }
  for (const { long, description } of program.options) {
    lines.push(`complete -c aep -l ${long!.slice(2)} -d ${quoted(description)}`);
  }
  return lines.join('\n');
}
