// Follows a run: its status, its steps, and the thoughts and actions of its agents. Interrupting the command does not end the run.
import type { Client, SandboxLiveFragment } from '../../typescript/src/exports.ts';
import { exitCodes, paint, paintStatus, plain, printError, printLine, toJson } from './output.ts';

interface Step {
  id: string;
  role: string;
  status: string;
  agentName: string;
  error: string | null;
}

interface LiveRun {
  id: string;
  status: string;
  reason: string | null;
  lastError: string | null;
  missionProgress: number | null;
  missionActivity: string | null;
  missionCostUsd: number;
  awaitsApproval: boolean;
  issueUrl: string | null;
  prUrl: string | null;
  steps: Step[];
  sandboxes: { sandboxId: string }[];
}

const subscription = `subscription ($runId: String!) {
  runUpdated(runId: $runId) {
    id status reason lastError missionProgress missionActivity missionCostUsd awaitsApproval issueUrl prUrl
    steps { id role status agentName error } sandboxes { sandboxId }
  }
}`;

export const isOver = (status: string): boolean => !['dispatching', 'running'].includes(status);

/** Time to wait for the last events of sandboxes. */
const lastWordsMs = 2_000;

interface FollowOptions {
  json?: true;
  /** URL of the run's page in the console. */
  page: string;
}

/**
 * Prints the progress of a run until the run ends, and sets the exit code according to its outcome. @returns the final status of the run;
 * null when the person interrupted the command
 */
export async function followRun(client: Client, runId: string, { json, page }: FollowOptions): Promise<string | null> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once('SIGINT', leave);
  const sandboxes = new Map<string, Promise<void>>();
  const said = new Set<string>();
  /** Prints a line, unless the same line was already printed. */
  const say = (line: string) => {
    if (!said.has(line) && said.add(line)) printLine(line);
  };
  let last: LiveRun | undefined;
  if (!json) printLine(`${paint('bold', runId)}\n  ${page}`);
  try {
    const options = { signal: leaving.signal };
    for await (const { runUpdated: run } of client.subscribe<{ runUpdated: LiveRun }>(
      subscription,
      { runId },
      options,
    )) {
      last = run;
      if (json) {
        printLine(toJson(run));
        continue;
      }
      showRun(run, say);
      for (const { sandboxId } of run.sandboxes) {
        if (!sandboxes.has(sandboxId)) sandboxes.set(sandboxId, followSandbox(client, sandboxId, leaving.signal));
      }
    }
    const wait = new Promise((resolve) => setTimeout(resolve, lastWordsMs).unref());
    await Promise.race([Promise.all(sandboxes.values()), wait]);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    printError(`\n${runId} continues. Follow it with "aep logs ${runId} --follow"; end it with "aep cancel ${runId}".`);
    process.exitCode = exitCodes.interrupted;
    return null;
  } finally {
    process.off('SIGINT', leave);
    leaving.abort();
  }
  if (last) showEnd(last, json);
  return last?.status ?? null;
}

function showRun(run: LiveRun, say: (line: string) => void): void {
  if (isOver(run.status)) return;
  say(
    run.status === 'dispatching' && run.reason
      ? `${paintStatus(run.status)} ${plain(run.reason)}`
      : paintStatus(run.status),
  );
  for (const { role, status, agentName, error } of run.steps) {
    say(`  ${paint('bold', role)} ${plain(agentName)}: ${status}${error ? `, ${plain(error)}` : ''}`);
  }
  if (run.awaitsApproval) say(paint('yellow', '  The plan waits for approval.'));
  if (run.missionActivity) {
    const progress = run.missionProgress === null ? '' : `${run.missionProgress} % `;
    say(paint('dim', `  ${progress}${plain(run.missionActivity)}`));
  }
}

function showEnd(run: LiveRun, json?: true): void {
  process.exitCode =
    run.status === 'completed' ? exitCodes.ok : run.status === 'failed' ? exitCodes.failed : exitCodes.canceled;
  if (json) return;
  const why = run.reason ?? run.lastError;
  printLine(`${paintStatus(run.status)}${why ? `: ${plain(why)}` : ''} (${run.missionCostUsd.toFixed(2)} US dollars)`);
  for (const address of [run.issueUrl, run.prUrl]) if (address) printLine(`  ${plain(address)}`);
}

/** Prints what happens in a sandbox. If the sandbox cannot be read, for example because the token lacks the scope, prints only the error. */
async function followSandbox(client: Client, sandboxId: string, signal: AbortSignal): Promise<void> {
  try {
    for await (const { fragments } of client.sandboxUpdated({ sandboxId }, { signal })) {
      for (const fragment of fragments) {
        const line = lineOf(fragment);
        if (line) printLine(line);
      }
    }
  } catch (error) {
    if (!signal.aborted) printError(paint('dim', `  ${plain((error as Error).message)}`, process.stderr));
  }
}

function lineOf({ kind, body, action, parameter, items }: SandboxLiveFragment): string | null {
  switch (kind) {
    case 'action':
      return `  ${paint('cyan', plain(action ?? 'action'))} ${plain(parameter ?? '')
        .split('\n', 1)[0]!
        .slice(0, 200)}`;
    case 'plan':
      return (items ?? [])
        .map(({ content, status }) => `  [${status === 'completed' ? 'x' : ' '}] ${plain(content)}`)
        .join('\n');
    case 'thought':
      return paint('dim', `  ${plain(body ?? '')}`);
    case 'error':
      return paint('red', `  ${plain(body ?? '')}`);
    case 'elicitation':
      return paint('yellow', `  ? ${plain([body, parameter].filter(Boolean).join(' '))}`);
    default:
      return body ? `  ${plain(body)}` : null;
  }
}
