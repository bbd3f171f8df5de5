// The commands for runtimes.
import type { Command } from 'commander';
import { run } from './arguments.ts';
import * as runtimes from './commands/runtimes.ts';

export function addRuntimes(program: Command): void {
  const command = program.command('runtimes').description('runtimes, which execute missions');
  command
    .command('list', { isDefault: true })
    .description('list runtimes that were seen within a day, the latest first')
    .action(run(runtimes.list));
  for (const [name, does, action] of [
    ['drain', 'let a runtime finish its missions, take no new ones, and shut down', runtimes.drain],
    ['resume', 'let a draining runtime take missions again', runtimes.resume],
  ] as const) {
    command.command(name).description(does).argument('<name>', 'name of the runtime').action(run(action));
  }
}
