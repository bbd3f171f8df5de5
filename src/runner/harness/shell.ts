// The shell harness: a prompt is a POSIX shell script, which `sh` executes. Its words (words.ts) are its events.
import { wordOf } from '../words.ts';
import type { Harness, Launch, Listener } from './port.ts';
import { startProcess } from './process.ts';

/** Runs a script file. A script takes no messages; interrupted, it is asked to end. */
export function shell(task: Launch & { file: string }, on: Listener): Harness {
  const take = (line: string) => on(wordOf(line) ?? { log: line });
  const program = { program: 'sh', args: [task.file], hasInput: false, longestLine: 20_000, out: take, err: take };
  const script = startProcess(task, program);
  const { pid, ended, isRunning, end } = script;
  ended.then(
    (why) =>
      on({ turn: { status: why ? 'failed' : 'completed', text: '', structured: undefined, error: why || null } }),
    () => {},
  );
  return { pid, ready: Promise.resolve(), ended, isRunning, end, interrupt: end, send: takesNoMessages };
}

async function takesNoMessages(): Promise<never> {
  throw new Error('A script takes no messages.');
}
