// The commands of the inbox.
import type { Command } from 'commander';
import { count, date, run } from './arguments.ts';
import * as inbox from './commands/inbox.ts';

export function addInbox(program: Command): void {
  const command = program.command('inbox').description('what waits for you, the most urgent first');
  command
    .command('list', { isDefault: true })
    .description('list what waits for you')
    .option('--mine', 'list only items of your own missions')
    .option('--hidden', 'list the items that you have marked as done or snoozed')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(inbox.list));
  command
    .command('done')
    .description('hide an item until something new happens to it')
    .argument('<item>', 'id')
    .option('--until <date>', 'hide it only until this date: 2026-12-24, or with a time', date)
    .action(run(inbox.done));
  command
    .command('undo')
    .description('bring back an item that you have hidden')
    .argument('<item>', 'id')
    .action(run(inbox.undo));
}
