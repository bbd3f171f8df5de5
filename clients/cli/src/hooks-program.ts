// The commands for inbound hooks, their events, and the rules by which they start missions.
import type { Command } from 'commander';
import { count, oneOf, run } from './arguments.ts';
import * as hooks from './commands/hooks.ts';
import * as rules from './commands/rules.ts';

const statuses = ['received', 'started', 'waiting', 'ignored', 'failed'];

export function addHooks(program: Command): void {
  const command = program.command('hooks').description('inbound hooks, to which other systems send events');
  const ofHook = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<hook>', 'id or name');
  command
    .command('list')
    .description('list hooks, newest first')
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(hooks.list));
  command
    .command('create')
    .description('create a hook and print its secret, which is shown only once')
    .argument('<name>', 'name')
    .option(
      '--vendor <system>',
      'github, gitlab, linear, or webhook for any system',
      oneOf(['github', 'gitlab', 'linear', 'webhook']),
      'github',
    )
    .option('--signature <way>', 'signature scheme for webhook: standard or github', oneOf(['standard', 'github']))
    .option('--header <name>', 'for webhook: the header with the signature')
    .action(run(hooks.create));
  ofHook('rotate', 'replace the secret and print the new one')
    .option('--secret <secret>', 'a secret chosen by the sender; - reads it from standard input')
    .action(run(hooks.replaceSecret));
  ofHook('rename', 'rename a hook').argument('<name>', 'new name').action(run(hooks.rename));
  ofHook('disable', 'keep the events of a hook from starting missions').action(run(hooks.disable));
  ofHook('enable', 'let the events of a hook start missions again').action(run(hooks.enable));
  ofHook('delete', 'delete a hook and the list of its events').action(run(hooks.remove));
  ofHook('deliveries', 'list events of the last 30 days with their outcome, newest first')
    .option('--status <status>', statuses.join(', '), oneOf(statuses))
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(hooks.deliveries));
  ofHook('redeliver', 'process an event once more')
    .argument('<delivery>', 'id of the delivery')
    .action(run(hooks.redeliver));
  ofHook('approve', 'start the missions of an event whose author is not allowed to start them')
    .argument('<delivery>', 'id of the delivery')
    .action(run(hooks.approve));
}

const authors = ['writers', 'members', 'anyone'];
const kinds = ['issue', 'comment', 'pullRequest', 'check', 'session', 'webhook'];

export function addRules(program: Command): void {
  const command = program.command('rules').description('rules of automations and scheduled tasks for events');
  const ofMission = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<id>', 'id of an automation or a scheduled task');
  ofMission('list', 'list rules').action(run(rules.list));
  ofMission('add', 'add a rule: a matching event starts a mission')
    .requiredOption('--on <event>', kinds.join(', '), oneOf(kinds))
    .option(
      '--from <people>',
      'people whose events start missions: writers, members or anyone',
      oneOf(authors),
      'writers',
    )
    .option('--label <label>', 'the label that is added to an issue or a pull request')
    .option('--assignee <login>', 'the login to which an issue is assigned')
    .option('--mention <name>', 'the name after the @ in a comment')
    .option('--branch <branch>', 'the branch of the failed check')
    .option('--hook <id>', 'the hook whose events may match')
    .option('--filter <expression>', 'a JMESPath expression that must be true')
    .option(
      '--key <expression>',
      'a JMESPath expression: only the first of several events with the same value starts a mission',
    )
    .option('--text <template>', 'text for the agent with {{ JMESPath }}')
    .option('--outsider-template <template>', 'sandbox template of missions that outsiders start: id or name')
    .action(run(rules.add));
  ofMission('remove', 'remove a rule')
    .argument('<n>', 'number of the rule in the list', count)
    .action(run(rules.remove));
}
