// The commands for sandbox templates.
import type { Command } from 'commander';
import { count, limit, oneOf, repeated, run } from './arguments.ts';
import { instanceTypes } from './commands/runs.ts';
import * as templates from './commands/templates.ts';

const typeOrNone = [...instanceTypes, 'none'];
const modes = ['none', 'packages', 'custom', 'open'];
const withSettings = (settings: Command): Command =>
  settings
    .option('--description <text>', 'its purpose')
    .option('--image <image>', 'start from this container image')
    .option('--dockerfile <file>', 'start from the image of this Dockerfile')
    .option('--machine', 'start from the machine of the runtime')
    .option('--setup <file>', 'script that prepares the environment')
    .option('--network <mode>', `hosts of setup and agents: ${modes.join(', ')}`, oneOf(modes))
    .option('--allow <host>', 'allow this host; may be repeated', repeated)
    .option('--setup-network <mode>', 'hosts of the setup, if they differ from those of agents', oneOf(modes))
    .option('--setup-allow <host>', 'allow this host in the setup; may be repeated', repeated)
    .option('--variable <name=value>', 'set a variable; may be repeated', repeated)
    .option('--services <file>', 'JSON list of containers that run next to a mission')
    .option('--label <label>', 'require runtimes with this label; may be repeated, "" removes all', repeated)
    .option('--instance-type <type>', `size of missions: ${typeOrNone.join(', ')}`, oneOf(typeOrNone))
    .option('--memory-mb <n>', 'maximum memory of a mission in MiB, or none', limit)
    .option('--disk-mb <n>', 'maximum disk space of a mission in MiB, or none', limit)
    .option('--processes <n>', 'maximum number of processes of a mission, or none', limit)
    .option('--step-minutes <n>', 'maximum minutes of a step, or none', limit)
    .option('--step-model-calls <n>', 'maximum number of model calls of a step, or none', limit)
    .option('--step-tokens <n>', 'maximum number of tokens of a step, or none', limit)
    .option('--max-minutes <n>', 'maximum minutes that a mission may use its sandbox, or none', limit)
    .option('--max-model-calls <n>', 'maximum number of model calls of a mission, or none', limit)
    .option('--max-tokens <n>', 'maximum number of tokens of a mission, or none', limit);

export function addTemplates(program: Command): void {
  const command = program.command('templates').description('sandbox templates: the environments that agents work in');
  command
    .command('list')
    .description('list templates, the built-in one last')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(templates.list));
  command
    .command('show')
    .description('show a template')
    .argument('<template>', 'id or name')
    .action(run(templates.show));
  withSettings(command.command('create').description('create a template').argument('<name>', 'name')).action(
    run(templates.create),
  );
  withSettings(command.command('update').description('change a template').argument('<template>', 'id or name'))
    .option('--name <name>', 'its new name')
    .action(run(templates.update));
  command
    .command('use')
    .description('choose the template of a project')
    .argument('<project>', 'id, slug or name')
    .argument('<template>', 'id or name')
    .action(run(templates.choose));
  command
    .command('allow')
    .description('allow a host that was blocked in a run, in the template that the run used')
    .argument('<run>', 'id of the run')
    .argument('<host>', 'host, or host:port')
    .option('--setup', 'the host was blocked in the setup')
    .action(run(templates.allow));
  command
    .command('delete')
    .description('delete an unused template')
    .argument('<template>', 'id or name')
    .action(run(templates.remove));
}
