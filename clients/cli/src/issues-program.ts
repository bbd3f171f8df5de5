// The commands for issues of the built-in tracker.
import type { Command } from 'commander';
import { amount, count, list, oneOf, run } from './arguments.ts';
import * as issues from './commands/issues.ts';

export function addIssues(program: Command): void {
  const command = program
    .command('issues')
    .description('issues of the built-in tracker, and the agents that work on them');
  const ofIssue = (name: string, description: string): Command =>
    command.command(name).description(description).argument('<issue>', 'id');
  command
    .command('list', { isDefault: true })
    .description('list issues, newest first')
    .option('--project <project>', 'only of this project')
    .option('--state <state>', 'only in this state: open or closed', oneOf(['open', 'closed']))
    .option('--limit <n>', 'maximum number of rows', count, 50)
    .action(run(issues.list));
  ofIssue('show', 'show an issue and its newest comments').action(run(issues.show));
  command
    .command('create')
    .description('write an issue')
    .argument('<project>', 'id, slug or name')
    .argument('<title>', 'title')
    .option('--body <text>', 'description; - reads it from standard input')
    .option('--label <list>', 'labels, separated by commas', list)
    .option('--assign <id>', 'an agent, which starts a mission at once, or a member')
    .action(run(issues.create));
  ofIssue('assign', 'assign an issue; an agent starts a mission at once')
    .argument('<assignee>', 'id of an agent or member, or "nobody"; the mission of the previous agent is canceled')
    .action(run(issues.assign));
  command
    .command('start')
    .description('start a mission on each of several issues, of the built-in tracker or a connected one')
    .argument('<project>', 'id, slug or name')
    .argument('<issues...>', 'ids or names: WEB-12, or #12 on GitHub')
    .option('--prompt <text>', 'what to do with each issue; - reads it from standard input')
    .option('--agent <id>', 'the only agent that may work on the missions')
    .option('--budget <usd>', 'budget of each mission in US dollars', amount)
    .option('--plan-approval', 'wait for a person to approve each plan')
    .action(run(issues.startMissions));
  ofIssue('comment', 'comment on an issue, which steers its mission')
    .argument('<text>', 'the comment; - reads it from standard input')
    .action(run(issues.comment));
  ofIssue('close', 'close an issue and cancel its mission').action(run(issues.close));
  ofIssue('reopen', 'reopen an issue').action(run(issues.reopen));
}
