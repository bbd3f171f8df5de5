// The shell harness: a prompt is a POSIX shell script, executed by `sh`. Commands in its output (script-commands.ts) become events.
import type { Fragment } from '../contract.ts';
import { type Launch, startProcess } from '../isolation/process.ts';
import { clip } from '../text.ts';
import { plan } from './fragments.ts';
import type { Harness, Listener } from './port.ts';
import { parseCommand } from './script-commands.ts';

/**
 * Maximum length of the reason that a script reports for its failure. The error of the step, which has at most 2,000 characters, contains this reason
 * and a description of how the script ended.
 */
const maxReasonCharacters = 1_500;

/** Runs a script file. A script accepts no messages; an interruption requests its end. */
export function shell(task: Launch & { file: string }, on: Listener): Harness {
  const followed = followPlan();
  /** The last reason that the script reported. */
  let error = '';
  const take = (line: string) => {
    const command = parseCommand(line);
    if (command && 'step' in command) {
      const fragment = followed.begin(command.step);
      return on(fragment ? { fragment } : { log: line });
    }
    if (command && 'fragment' in command) {
      followed.take(command.fragment);
      if (command.fragment.kind === 'error') error = command.fragment.body!;
    }
    return on(command ?? { log: line });
  };
  const program = { program: 'sh', args: [task.file], hasInput: false, maxLineBytes: 20_000, out: take, err: take };
  const script = startProcess(task, program);
  const { pid, ended, silent, isRunning, end } = script;
  silent.then(
    (why) => {
      // If the script was killed, the end of its plan is not reported here, because the platform decides how such a plan ends.
      const fragment = why.startsWith('killed') ? null : followed.end(why ? 'failed' : 'completed');
      if (fragment) void on({ fragment });
      const reason = why && error ? `${clip(error, maxReasonCharacters)} (${why})` : why;
      void on({
        turn: { status: why ? 'failed' : 'completed', text: '', structured: undefined, error: reason || null },
      });
    },
    () => {},
  );
  return { pid, ready: Promise.resolve(), ended, isRunning, end, interrupt: end, send: takesNoMessages };
}

type Items = NonNullable<Fragment['items']>;

/** The plan of a script: the named step is in progress, and the previous one completed. */
function followPlan() {
  let items: Items = [];
  const update = (next: Items): Fragment | null => {
    items = next;
    return plan(items)[0] ?? null;
  };
  return {
    take(fragment: Fragment): void {
      if (fragment.kind === 'plan') items = fragment.items ?? [];
    },
    /** The plan with this step in progress; null for a step that is not in the plan. */
    begin(step: string): Fragment | null {
      if (!items.some(({ content }) => content === step)) return null;
      const moved = (item: Items[number]) => (item.content === step ? 'in_progress' : statusAfter(item, 'completed'));
      return update(items.map((item) => ({ ...item, status: moved(item) })));
    },
    /** Marks steps that never began as skipped. If no step began, all steps get the status of the script. */
    end(status: 'completed' | 'failed'): Fragment | null {
      const rest = items.every((item) => item.status === 'pending') ? status : 'skipped';
      const closed = (item: Items[number]) => (item.status === 'pending' ? rest : statusAfter(item, status));
      return update(items.map((item) => ({ ...item, status: closed(item) })));
    },
  };
}

const statusAfter = ({ status }: Items[number], end: string): string => (status === 'in_progress' ? end : status);

async function takesNoMessages(): Promise<never> {
  throw new Error('Scripts do not accept messages.');
}
