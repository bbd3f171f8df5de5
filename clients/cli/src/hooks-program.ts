// The commands for inbound hooks and their events.
import type { Command } from 'commander';
import { count, oneOf, run } from './arguments.ts';
import * as hooks from './commands/hooks.ts';

const statuses = ['received', 'started', 'waiting', 'ignored', 'failed'];

export function addHooks(program: Command): void {
  const command = program.command('hooks').description('inbound hooks, to which other systems send events');
  const ofHook = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<hook>', 'id or name');
  command
    .command('list')
    .description('list hooks, newest first')
    .option('--limit <n>', 'at most so many', count, 50)
    .action(run(hooks.list));
  command
    .command('create')
    .description('create a hook and print its secret, which is shown only now')
    .argument('<name>', 'name')
    .option('--vendor <system>', 'github, or webhook for any system', oneOf(['github', 'webhook']), 'github')
    .option('--signature <way>', 'of any system: standard or github', oneOf(['standard', 'github']))
    .option('--header <name>', 'of any system: the header that has the signature')
    .action(run(hooks.create));
  ofHook('rotate', 'replace the secret and print the new one').action(run(hooks.replaceSecret));
  ofHook('rename', 'rename a hook').argument('<name>', 'new name').action(run(hooks.rename));
  ofHook('disable', 'keep the events of a hook from starting missions').action(run(hooks.disable));
  ofHook('enable', 'let the events of a hook start missions again').action(run(hooks.enable));
  ofHook('delete', 'delete a hook and the list of its events').action(run(hooks.remove));
  ofHook('deliveries', 'list events of the last 30 days with their outcome, newest first')
    .option('--status <status>', statuses.join(', '), oneOf(statuses))
    .option('--limit <n>', 'at most so many', count, 50)
    .action(run(hooks.deliveries));
  ofHook('redeliver', 'process an event once more')
    .argument('<delivery>', 'id of the delivery')
    .action(run(hooks.redeliver));
  ofHook('approve', 'start the missions of an event whose author may not start them')
    .argument('<delivery>', 'id of the delivery')
    .action(run(hooks.approve));
}
