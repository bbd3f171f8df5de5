// The commands for settings of missions beside sandbox templates: secrets and budgets.
import type { Command } from 'commander';
import { amount, count, oneOf, repeated, run } from './arguments.ts';
import * as budgets from './commands/budgets.ts';
import * as secrets from './commands/secrets.ts';

export function addSettings(program: Command): void {
  addSecrets(program);
  addBudgets(program);
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
