// The commands for settings of missions: sandbox templates, secrets and budgets.
import type { Command } from 'commander';
import { amount, count, oneOf, run } from './arguments.ts';
import * as budgets from './commands/budgets.ts';
import { instanceTypes } from './commands/runs.ts';
import * as secrets from './commands/secrets.ts';
import * as templates from './commands/templates.ts';

export function addSettings(program: Command): void {
  addTemplates(program);
  addSecrets(program);
  addBudgets(program);
}

/** Values of an option that may be repeated. */
const repeated = (value: string, before: string[] = []) => [...before, value];

function addTemplates(program: Command): void {
  const command = program.command('templates').description('sandbox templates: the environments that agents work in');
  const withSettings = (settings: Command): Command =>
    settings
      .option('--image <image>', 'start from this container image')
      .option('--dockerfile <file>', 'start from the image of this Dockerfile')
      .option('--setup <file>', 'script that prepares the environment')
      .option('--network <mode>', 'none, packages, custom or open', oneOf(['none', 'packages', 'custom', 'open']))
      .option('--allow <host>', 'allow this host; may be repeated', repeated)
      .option('--instance-type <type>', `size of missions: ${instanceTypes.join(', ')}`, oneOf(instanceTypes))
      .option('--step-minutes <n>', 'minutes of a step', count)
      .option('--step-model-calls <n>', 'model calls of a step', count)
      .option('--step-tokens <n>', 'tokens of a step', amount)
      .option('--variable <name=value>', 'set a variable; may be repeated', repeated)
      .option('--services <file>', 'list of containers beside a mission, as JSON');
  command
    .command('list')
    .description('list templates, the built-in one last')
    .option('--limit <n>', 'at most so many', count, 50)
    .action(run(templates.list));
  command
    .command('show')
    .description('show a template')
    .argument('<template>', 'id or name')
    .action(run(templates.show));
  withSettings(command.command('create').description('create a template').argument('<name>', 'name')).action(
    run(templates.create),
  );
  withSettings(command.command('update').description('change a template').argument('<template>', 'id or name')).action(
    run(templates.update),
  );
  command
    .command('use')
    .description('choose the template of a project')
    .argument('<project>', 'id, slug or name')
    .argument('<template>', 'id or name')
    .action(run(templates.choose));
  command
    .command('allow')
    .description('allow a host that was blocked in a run, in the template that decides on it')
    .argument('<run>', 'id of the run')
    .argument('<host>', 'host, or host:port')
    .option('--setup', 'it was blocked in the setup')
    .action(run(templates.allow));
  command
    .command('delete')
    .description('delete a template that nothing uses')
    .argument('<template>', 'id or name')
    .action(run(templates.remove));
}

function addSecrets(program: Command): void {
  const command = program.command('secrets').description('secrets and variables of agents; values are never shown');
  const inPlace = (one: Command): Command =>
    one
      .option('--project <project>', 'of this project, in place of the organization')
      .option('--template <template>', 'of this sandbox template, in place of the organization');
  inPlace(command.command('list').description('list them by name, newest first; of all scopes without options'))
    .option('--limit <n>', 'at most so many', count, 50)
    .action(run(secrets.list));
  inPlace(command.command('set').description('set a value, which is read from standard input or asked for'))
    .argument('<name>', 'name of the environment variable')
    .option('--setup', 'a secret that the setup alone gets')
    .option('--host <host>', 'a secret for requests to this host; may be repeated', repeated)
    .option('--variable', 'a variable, which agents read')
    .action(run(secrets.set));
  inPlace(command.command('delete').description('delete a secret or variable'))
    .argument('<name>', 'name of the environment variable')
    .action(run(secrets.remove));
}

function addBudgets(program: Command): void {
  const command = program.command('budgets').description('budgets of organization, projects and people');
  command
    .command('list')
    .description('list them with what is spent, newest first')
    .option('--limit <n>', 'at most so many', count, 50)
    .action(run(budgets.list));
  command
    .command('set')
    .description('set the US dollars that missions may cost, of the organization without options')
    .argument('<usd>', 'US dollars', amount)
    .option('--each <period>', 'day or month (UTC)', oneOf(['day', 'month']), 'month')
    .option('--project <project>', 'for missions of this project')
    .option('--person <person>', 'for missions of this person: me, or an id such as usr_…')
    .action(run(budgets.set));
  command.command('delete').description('delete a budget').argument('<budget>', 'id').action(run(budgets.remove));
}
