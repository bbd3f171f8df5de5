// The state of a run at an earlier moment, and the events between which a replay moves.
import { Artifact } from '../artifacts/model.ts';
import { artifactsUntil } from '../artifacts/operations.ts';
import { changedPaths } from '../attempts/paths.ts';
import { versionAt } from '../change-versions/operations.ts';
import { costUntil } from '../mission-costs/ledger.ts';
import type { RunMessage } from '../runs/message-model.ts';
import type { Run, RunStatus } from '../runs/model.ts';
import type { RunStep } from '../runs/step-model.ts';
import { messagesUntil, statusAt, stepsUntil } from '../runs/until.ts';
import { Sandbox, type SandboxFragment } from '../sandboxes/model.ts';
import { fragmentsUntil, logUntil } from '../sandboxes/until.ts';
import { momentBounds } from './bounds.ts';

export interface RunMoment {
  at: number;
  status: RunStatus;
  costUsd: number;
  steps: RunStep[];
  messages: RunMessage[];
  /** The newest fragments up to the time of this state, oldest first. */
  fragments: SandboxFragment[];
  /** The agent's plan at that moment; empty before the first plan. */
  plan: { content: string; status: string }[];
  log: string;
  /** Paths of the files in the newest diff up to that moment; null when there is none. */
  paths: string[] | null;
}

/** Reads the state of the run at the time `at`. The caller of the function has checked who may read the run. */
export async function readMoment(run: Run, at: number): Promise<RunMoment> {
  const [steps, messages, fragments, plans, log, costUsd, paths] = await Promise.all([
    stepsUntil(run.id, at),
    messagesUntil(run.id, at),
    fragmentsUntil(run, at, momentBounds.fragments),
    fragmentsUntil(run, at, 1, ['plan']),
    logUntil(run, at, momentBounds.logCharacters),
    costUntil(run.id, at),
    pathsUntil(run.id, at),
  ]);
  return {
    at,
    status: statusAt(run, at),
    costUsd,
    steps,
    messages,
    fragments,
    plan: plans[0]?.items ?? [],
    log,
    paths,
  };
}

async function artifactsOf(runId: string, at: number): Promise<Artifact[]> {
  const sandboxes = await Sandbox.findByKeys('runId', [runId]);
  return artifactsUntil(
    sandboxes.map(({ id }) => id),
    at,
  );
}

async function pathsUntil(runId: string, at: number): Promise<string[] | null> {
  const version = await versionAt(runId, at);
  const diff = version && (await Artifact.find({ id: version.artifactId }));
  return diff ? changedPaths(diff) : null;
}

export const runEventKinds = ['start', 'step', 'message', 'plan', 'question', 'error', 'artifact', 'end'] as const;

export interface RunEvent {
  at: number;
  kind: (typeof runEventKinds)[number];
  text: string;
}

const shown = (text: string | null): string => (text ?? '').split('\n', 1)[0]!.slice(0, 200).toWellFormed();

const planWords = (items: RunMoment['plan']): string =>
  `Plan: ${items.filter(({ status }) => status === 'completed').length} of ${items.length} steps completed`;

const kindOfFragment = { plan: 'plan', elicitation: 'question', error: 'error' } as const;

/** The newest 500 events of the run, in chronological order. */
export async function readEvents(run: Run): Promise<RunEvent[]> {
  const until = Number.MAX_SAFE_INTEGER;
  const kinds = Object.keys(kindOfFragment) as (keyof typeof kindOfFragment)[];
  const [steps, messages, fragments, artifacts] = await Promise.all([
    stepsUntil(run.id, until),
    messagesUntil(run.id, until),
    fragmentsUntil(run, until, momentBounds.events, kinds),
    artifactsOf(run.id, until),
  ]);
  const events: RunEvent[] = [
    { at: run.createdAt, kind: 'start', text: 'Mission started' },
    ...steps.flatMap(({ role, status, startedAt, finishedAt }): RunEvent[] => [
      ...(startedAt === null ? [] : [{ at: startedAt, kind: 'step' as const, text: `The ${role} begins` }]),
      ...(finishedAt === null ? [] : [{ at: finishedAt, kind: 'step' as const, text: `The ${role}: ${status}` }]),
    ]),
    ...messages.map(({ createdAt: at, kind, text }) => ({ at, kind: 'message' as const, text: shown(text) || kind })),
    ...fragments.map(({ at, kind, body, items }) => ({
      at,
      kind: kindOfFragment[kind as keyof typeof kindOfFragment],
      text: kind === 'plan' ? planWords(items) : shown(body),
    })),
    ...artifacts.map(({ createdAt: at, caption, kind }) => ({ at, kind: 'artifact' as const, text: caption ?? kind })),
    ...(run.finishedAt === null ? [] : [{ at: run.finishedAt, kind: 'end' as const, text: `Mission ${run.status}` }]),
  ];
  return events.sort((a, b) => a.at - b.at).slice(-momentBounds.events);
}
