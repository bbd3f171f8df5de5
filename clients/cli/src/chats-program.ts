// The commands for chats.
import type { Command } from 'commander';
import { oneOf, run } from './arguments.ts';
import * as chats from './commands/chats.ts';

export function addChats(program: Command): void {
  const command = program.command('chats').description('chats, in which people start and steer missions');
  const ofChat = (name: string, description: string): Command =>
    command.command(name).description(description).option('--chat <chat>', 'id or name; required if there are several');
  command.command('list').description('list chats with their channels, oldest first').action(run(chats.list));
  command
    .command('connect')
    .description(
      'connect a workspace; reads bot token and signing secret from two lines of standard input, or prompts for them',
    )
    .argument('<name>', 'name')
    .option('--vendor <vendor>', 'slack', oneOf(['slack']), 'slack')
    .action(run(chats.connect));
  ofChat('manifest', 'print the settings of the app at the vendor').action(run(chats.manifest));
  ofChat(
    'rotate',
    'replace bot token and signing secret; reads two lines of standard input, or prompts for them',
  ).action(run(chats.rotate));
  ofChat('bind', 'bind a channel to a project')
    .argument('<channel>', 'id of the channel')
    .argument('<project>', 'id, slug or name')
    .action(run(chats.bind));
  ofChat('unbind', 'end the binding of a channel').argument('<channel>', 'id of the channel').action(run(chats.unbind));
}
