// The commands of missions and their runs, with their options.
import { type Command, Option } from 'commander';
import { amount, count, date, oneOf, run } from './arguments.ts';
import { diff } from './commands/artifacts.ts';
import { showLogs } from './commands/logs.ts';
import * as reviews from './commands/reviews.ts';
import * as runs from './commands/runs.ts';
import * as steering from './commands/steering.ts';

export function addRuns(program: Command): void {
  program
    .command('run')
    .description('start a mission and follow it to its end')
    .argument('<project>', 'id, slug or name')
    .argument('<prompt>', 'the task for the agent; - reads it from standard input')
    .option('--agent <id>', 'the only agent that may work on it')
    .option('--script', 'run the prompt as a POSIX shell script, without a model')
    .option('--issue <issue>', 'an issue of the tracker to work on')
    .option('--budget <usd>', 'end it at this cost in US dollars', amount)
    .option(
      '--instance-type <type>',
      `CPUs, memory and disk: ${runs.instanceTypes.join(', ')}`,
      oneOf(runs.instanceTypes),
    )
    .option('--max-minutes <n>', 'minutes for which it may hold its sandbox', count)
    .option('--max-model-calls <n>', 'model calls that it may make', count)
    .option('--max-tokens <n>', 'tokens that it may use, read and written', amount)
    .option('--plan-approval', 'wait for a person to approve the plan')
    .option('--detach', 'print the run and leave')
    .action(run(runs.start));
  program
    .command('runs')
    .description('list runs, newest first')
    .option('--project <project>', 'of this project only')
    .option('--status <status>', 'in this status only')
    .option('--kind <kind>', 'started by the schedule (scheduled) or by a person (manual) only')
    .option('--agent <id>', 'started for this agent only')
    .option('--since <date>', 'created since then only: 2026-11-22, or with a time', date)
    .option('--limit <n>', 'at most so many', count, 20)
    .action(run(runs.list));
  const ofRun = (name: string, about: string) => program.command(name).description(about).argument('<run>', 'id');
  ofRun('show', 'show a run').action(run(runs.show));
  ofRun('logs', 'print the logs of a run')
    .option('-f, --follow', 'go on until the run has ended')
    .action(run(showLogs));
  ofRun('diff', 'print what a run has changed in the repository').action(run(diff));
  ofRun('review', 'review what a run has changed: its agent gets a request for changes, with all comments')
    .argument('<verdict>', reviews.verdicts.join(', '), oneOf(reviews.verdicts))
    .option('-m, --message <text>', 'what you say of the whole; - reads it from standard input')
    .option('--on <comment>', 'a comment on a line: src/date.ts:7=Use UTC.; may be repeated', reviews.lineComment, [])
    .action(run(reviews.review));
  ofRun('merge', 'merge the pull request of a run at its newest commit').action(run(reviews.merge));
  addSteering(ofRun);
}

function addSteering(ofRun: (name: string, about: string) => Command): void {
  ofRun('approve', 'approve the plan that a run waits with').action(run(steering.approve));
  ofRun('message', 'send a message to the agent of a run')
    .argument('<text>', 'what to tell it; - reads it from standard input')
    .action(run(steering.message));
  ofRun(
    'answer',
    'answer the question of the agent of a run, or decide about a tool call; without an answer: show what waits',
  )
    .argument('[text]', 'the answer, or the reason of the decision; - reads it from standard input')
    .option('--question <name>', 'the question, as it is shown, if several wait')
    .addOption(new Option('--approve', 'let the agent call the tool').conflicts('deny'))
    .option('--deny', 'keep the agent from calling the tool')
    .action(run(steering.answer));
  ofRun('budget', 'set what a run may cost in all')
    .argument('<usd>', 'US dollars', amount)
    .action(run(steering.setBudget));
  ofRun('limits', 'set limits of an open run')
    .option('--max-minutes <n>', 'minutes for which it may hold its sandbox', count)
    .option('--max-model-calls <n>', 'model calls that it may make', count)
    .option('--max-tokens <n>', 'tokens that it may use, read and written', amount)
    .action(run(steering.setLimits));
  ofRun('interrupt', 'interrupt the agent of a run in its turn').action(run(steering.interrupt));
  ofRun('resume', 'let an interrupted agent continue').action(run(steering.resume));
  ofRun('cancel', 'cancel a run').action(run(runs.cancel));
  ofRun('continue', 'continue a run that has ended, from its newest checkpoint, by another one')
    .argument('<prompt>', 'what to do now; - reads it from standard input')
    .option('--step <id>', 'begin from the checkpoint of this step')
    .option('--budget <usd>', 'end it at this cost in US dollars', amount)
    .option('--detach', 'print the run and leave')
    .action(run(steering.continueRun));
  ofRun('rerun', 'start the mission of a run again, from its beginning')
    .option('--detach', 'print the run and leave')
    .action(run(steering.rerun));
}
