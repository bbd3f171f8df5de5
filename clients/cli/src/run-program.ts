// The commands of missions and their runs, with their options.
import { type Command, Option } from 'commander';
import { amount, count, date, oneOf, run } from './arguments.ts';
import { diff } from './commands/artifacts.ts';
import { attach } from './commands/attach.ts';
import * as attempts from './commands/attempts.ts';
import { decisions, effects } from './commands/effects.ts';
import { showLogs } from './commands/logs.ts';
import { pull } from './commands/pull.ts';
import { push } from './commands/push.ts';
import * as recordings from './commands/recordings.ts';
import * as reviews from './commands/reviews.ts';
import * as runs from './commands/runs.ts';
import * as steering from './commands/steering.ts';

export function addRuns(program: Command): void {
  program
    .command('run')
    .description('start a mission and follow it to its end')
    .argument('<project>', 'id, slug or name')
    .argument('<prompt>', 'the task for the agent; - reads it from standard input')
    .option('--agent <id>', 'the only agent that may work on the mission')
    .option('--script', 'run the prompt as a POSIX shell script, without a model')
    .option('--issue <issue>', 'an issue of the tracker to work on')
    .option('--budget <usd>', 'budget in US dollars, at which the mission waits for you', amount)
    .option(
      '--instance-type <type>',
      `CPUs, memory and disk: ${runs.instanceTypes.join(', ')}`,
      oneOf(runs.instanceTypes),
    )
    .option('--max-minutes <n>', 'maximum minutes that the mission may use its sandbox', count)
    .option('--max-model-calls <n>', 'maximum model calls', count)
    .option('--max-tokens <n>', 'maximum number of tokens, input and output', amount)
    .option('--attempts <n>', 'start this many attempts at the task at once, 2 to 8; prints them and exits', count)
    .option('--plan-approval', 'wait for a person to approve the plan')
    .option('--detach', 'print the run and exit')
    .action(run(runs.start));
  program
    .command('runs')
    .description('list runs, newest first')
    .option('--project <project>', 'only of this project')
    .option('--status <status>', 'only in this status')
    .option('--kind <kind>', 'only started by the schedule (scheduled) or by a person (manual)')
    .option('--agent <id>', 'only started for this agent')
    .option('--since <date>', 'only created since this date: 2026-11-22, or with a time', date)
    .option('--limit <n>', 'maximum number of rows', count, 20)
    .action(run(runs.list));
  const ofRun = (name: string, about: string) => program.command(name).description(about).argument('<run>', 'id');
  ofRun('show', 'show a run').action(run(runs.show));
  program
    .command('logs')
    .description('print the logs of runs; with several runs, each line begins with the id of its run')
    .argument('<runs...>', 'ids')
    .option('-f, --follow', 'follow the logs until the runs have ended')
    .action(run(showLogs));
  addOwnWork(ofRun);
  ofRun('diff', 'print the changes of a run in the repository').action(run(diff));
  ofRun('recording', 'download the recorded calls of a run to models and tools, as JSON lines')
    .option('-o, --output <file>', 'file to write; standard output by default')
    .action(run(recordings.get));
  ofRun('review', 'review the changes of a run: its agent gets a request for changes with all comments')
    .argument('<verdict>', reviews.verdicts.join(', '), oneOf(reviews.verdicts))
    .option('-m, --message <text>', 'text about the whole change; - reads it from standard input')
    .option('--on <comment>', 'a comment on a line: src/date.ts:7=Use UTC.; may be repeated', reviews.lineComment, [])
    .action(run(reviews.review));
  ofRun('effects', 'list effects of a run that wait for approval, with their texts; approve or reject them')
    .argument('[decision]', decisions.join(', '), oneOf(decisions))
    .option('--only <effect>', 'only this effect; may be repeated', (id: string, ids: string[] = []) => [...ids, id])
    .action(run(effects));
  ofRun('merge', 'merge the pull request of a run at its newest commit').action(run(reviews.merge));
  addAttempts(program);
  addSteering(ofRun);
}

/** Commands with which a person works on the files of a mission. */
function addOwnWork(ofRun: (name: string, about: string) => Command): void {
  ofRun('attach', 'open a shell in the sandbox of a running mission').action(run(attach));
  ofRun('pull', 'check out the branch of a run with its uncommitted files, and copy the sessions of its agent')
    .option('-C, --directory <folder>', 'the checkout of the repository', '.')
    .action(run(pull));
  ofRun('push', 'send commits and uncommitted files to a run that has ended; "continue" begins from them')
    .option('-C, --directory <folder>', 'the checkout with the branch of the run', '.')
    .action(run(push));
}

function addAttempts(program: Command): void {
  const named = (name: string, about: string) =>
    program.command(name).description(about).argument('<attempts>', 'id of the attempts, or of one of their runs');
  named('attempts', 'compare several attempts at one task').action(run(attempts.show));
  program
    .command('choose')
    .description('choose an attempt: its pull request is opened, and the other attempts end')
    .argument('<run>', 'id')
    .action(run(attempts.choose));
  named('close-attempts', 'close all attempts at a task without choosing one').action(run(attempts.close));
}

function addSteering(ofRun: (name: string, about: string) => Command): void {
  ofRun('approve', 'approve the plan of a waiting run').action(run(steering.approve));
  ofRun('message', 'send a message to the agent of a run')
    .argument('<text>', 'the message; - reads it from standard input')
    .action(run(steering.message));
  ofRun(
    'answer',
    'answer the question of the agent of a run, or decide about a tool call; without an answer, list the waiting questions',
  )
    .argument('[text]', 'the answer, or the reason for the decision; - reads it from standard input')
    .option('--question <name>', 'the name of the question as listed, if several wait')
    .addOption(new Option('--approve', 'let the agent call the tool').conflicts('deny'))
    .option('--deny', 'keep the agent from calling the tool')
    .action(run(steering.answer));
  ofRun('budget', 'set the total budget of a run')
    .argument('<usd>', 'US dollars', amount)
    .action(run(steering.setBudget));
  ofRun('limits', 'set limits of an open run')
    .option('--max-minutes <n>', 'maximum minutes that the run may use its sandbox', count)
    .option('--max-model-calls <n>', 'maximum model calls', count)
    .option('--max-tokens <n>', 'maximum number of tokens, input and output', amount)
    .action(run(steering.setLimits));
  ofRun('interrupt', 'interrupt the agent of a run in its turn').action(run(steering.interrupt));
  ofRun('resume', 'let an interrupted agent continue').action(run(steering.resume));
  ofRun('handover', 'hand a mission over to another person, who gets its notifications from then on')
    .argument('<person>', 'email address, name or id of a member')
    .action(run(steering.handOver));
  ofRun('follow', 'follow a mission of somebody else: its updates and inbox items also reach you').action(
    run(steering.setFollowed(true)),
  );
  ofRun('unfollow', 'stop following a mission').action(run(steering.setFollowed(false)));
  ofRun('cancel', 'cancel a run').action(run(runs.cancel));
  ofRun('continue', 'continue an ended run with a new run from its newest checkpoint')
    .argument('<prompt>', 'the next task; - reads it from standard input')
    .option('--step <id>', 'begin from the checkpoint of this step')
    .option('--budget <usd>', 'budget in US dollars, at which the mission waits for you', amount)
    .option('--detach', 'print the run and exit')
    .action(run(steering.continueRun));
  ofRun('fork', 'start a new mission that continues from a recorded model call; without a call, list the calls')
    .argument('[call]', 'the call in the format of the list: stp_…/4')
    .option('-m, --message <text>', 'message to the agent at the call; - reads it from standard input')
    .option('--model <id>', 'model from the call on')
    .option('--agent-version <n>', 'version of the agent for the call and later ones', count)
    .option('--budget <usd>', 'budget in US dollars, at which the mission waits for you', amount)
    .option('--detach', 'print the run and exit')
    .action(run(recordings.fork));
  ofRun('rerun', 'start the mission of a run again from its beginning')
    .option('--detach', 'print the run and exit')
    .action(run(steering.rerun));
}
