// The commands for secrets, budgets and allowed networks.
import type { Command } from 'commander';
import { amount, count, oneOf, repeated, run } from './arguments.ts';
import * as budgets from './commands/budgets.ts';
import * as networks from './commands/networks.ts';
import * as secrets from './commands/secrets.ts';

export function addSettings(program: Command): void {
  addSecrets(program);
  addBudgets(program);
  addNetworks(program);
}

function addSecrets(program: Command): void {
  const command = program.command('secrets').description('secrets and variables of agents; values are never shown');
  const inPlace = (one: Command): Command =>
    one
      .option('--project <project>', 'for this project instead of the organization')
      .option('--template <template>', 'for this sandbox template instead of the organization');
  inPlace(
    command
      .command('list')
      .description(
        'list secrets and variables, newest first; by default those of the organization, projects and templates',
      ),
  )
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(secrets.list));
  inPlace(command.command('set').description('set a value; reads it from standard input, or prompts for it'))
    .argument('<name>', 'name of the environment variable')
    .option('--setup', 'a secret that only the setup gets')
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
    .description('list budgets with spent amounts, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(budgets.list));
  command
    .command('set')
    .description('set the maximum cost of missions in US dollars, by default for the organization')
    .argument('<usd>', 'US dollars', amount)
    .option('--each <period>', 'day or month (UTC)', oneOf(['day', 'month']), 'month')
    .option('--project <project>', 'for missions of this project')
    .option('--person <person>', 'for missions of this person: me, or an id such as usr_…')
    .action(run(budgets.set));
  command.command('delete').description('delete a budget').argument('<budget>', 'id').action(run(budgets.remove));
}

function addNetworks(program: Command): void {
  const command = program
    .command('networks')
    .description('networks from which the organization accepts credentials; owners change them');
  command.command('show').description('show the networks, and your own address').action(run(networks.show));
  command
    .command('set')
    .description('replace the networks; they must contain your own address')
    .argument('<network...>', 'networks in CIDR notation, such as 203.0.113.0/24')
    .action(run(networks.set));
  command.command('clear').description('allow requests from everywhere').action(run(networks.clear));
}
