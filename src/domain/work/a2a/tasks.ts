// Runs as tasks of the agent-to-agent protocol (A2A 1.0 §4.1): the task's id is the run's. Any run that the caller can reach is a task; the
// context of a run that did not begin with a message is the run's id.
import { type Artifact as A2aArtifact, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { ownOrganization, withinReach } from '#access/reach.ts';
import { isoTime } from '#foundation/clock.ts';
import type { Page } from '#foundation/postgres/cursor.ts';
import { previewSizes } from '#limits.ts';
import { contentAddress } from '../artifacts/address.ts';
import { Artifact } from '../artifacts/model.ts';
import { type MessageText, readMessageTexts } from '../runs/messages.ts';
import { Run, type RunStatus } from '../runs/model.ts';
import { countRuns, findRun, listRuns } from '../runs/operations.ts';
import { isOpen } from '../runs/states.ts';
import { countContext, messagesOfRuns, runsOfContext, type TaskMessage } from './messages.ts';
import { awaitsApproval, findQuestions, type TaskQuestion } from './questions.ts';

export const taskStates: Readonly<Record<RunStatus, TaskState>> = {
  dispatching: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  skipped: TaskState.TASK_STATE_REJECTED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

type OfTask = Pick<Message, 'messageId' | 'contextId' | 'taskId' | 'role'>;

export const textMessage = (of: OfTask, value: string): Message => ({
  ...of,
  parts: [textPart(value)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** A run whose agent waits for the client has the state `input-required`. */
const stateOf = (run: Run, { question }: Related): TaskState =>
  awaitsApproval(run) || (question !== undefined && isOpen(run))
    ? TaskState.TASK_STATE_INPUT_REQUIRED
    : taskStates[run.status];

/** The records from which a task is built, in addition to its run. */
interface Related {
  /** The message that started the run. */
  message?: TaskMessage | undefined;
  /** Later messages to the agent. */
  messages?: readonly MessageText[] | undefined;
  artifacts?: readonly Artifact[] | undefined;
  /** The unanswered question of the agent. */
  question?: TaskQuestion | undefined;
}

/** Converts a run to a task. Absent records leave the task without history or artifacts. */
export function taskOf(run: Run, related: Related = {}): Task {
  const { message, messages = [], artifacts = [] } = related;
  const { id: taskId, projectId, issueId, issueUrl, missionTitle, missionProgress, missionCostUsd } = run;
  const contextId = message?.contextId ?? taskId;
  return {
    id: taskId,
    contextId,
    status: {
      state: stateOf(run, related),
      message: statusMessage(run, contextId, related),
      timestamp: isoTime(run.updatedAt),
    },
    artifacts: artifacts.map(artifactOf),
    history: [...(message ? [message] : []), ...messages.map(({ id: messageId, text }) => ({ messageId, text }))].map(
      ({ messageId, text }) => textMessage({ messageId, contextId, taskId, role: Role.ROLE_USER }, text),
    ),
    metadata: { projectId, issueId, issueUrl, title: missionTitle, progress: missionProgress, costUsd: missionCostUsd },
  };
}

function statusMessage(run: Run, contextId: string, { question }: Related): Message | undefined {
  const asked = run.status === 'running' ? question : undefined;
  const words =
    asked?.text ?? (run.status === 'failed' ? (run.lastError ?? run.reason) : (run.reason ?? run.missionActivity));
  if (!words) return undefined;
  const of = { messageId: `${run.id}-${run.updatedAt}`, contextId, taskId: run.id, role: Role.ROLE_AGENT };
  return { ...textMessage(of, words), metadata: asked?.position };
}

const artifactOf = (artifact: Artifact): A2aArtifact => ({
  artifactId: artifact.id,
  name: artifact.caption ?? artifact.kind,
  description: artifact.criterion ?? '',
  parts: [
    {
      content: { $case: 'url', value: contentAddress(artifact.id) },
      metadata: undefined,
      filename: '',
      mediaType: artifact.contentType,
    },
  ],
  metadata: {
    kind: artifact.kind,
    sizeBytes: artifact.sizeBytes,
    criterionPassed: artifact.criterionPassed,
    expiresAt: isoTime(artifact.expiresAt),
  },
  extensions: [],
});

interface Detail {
  /** The maximum number of messages in the history; absent means all. */
  historyLength?: number | undefined;
  artifacts: boolean;
}

/** Reads a task. Its artifacts are the newest 20 of the run's issue, and require the scope `artifacts:read`. @throws 404 */
export async function readTask(caller: Caller, runId: string, detail: Detail): Promise<Task> {
  // The three reads start together, so that they are sent to the database in one message. One of them checks that the run exists.
  const [run, started, said] = await Promise.all([
    findRun(caller, runId),
    messagesOfRuns([runId], ownOrganization(caller)),
    readMessageTexts(caller, [runId]),
  ]);
  return (await tasksOf(caller, [run], [started, said], detail))[0]!;
}

type MayWait<T> = T | Promise<T>;

async function tasksOf(
  caller: Caller,
  runs: readonly Run[],
  messages: readonly [MayWait<ReadonlyMap<string, TaskMessage>>, MayWait<readonly MessageText[]>],
  { historyLength, artifacts }: Detail,
): Promise<Task[]> {
  const [started, said, found, asked] = await Promise.all([
    ...messages,
    artifacts ? artifactsOf(caller, runs) : new Map<string, Artifact[]>(),
    findQuestions(runs),
  ]);
  return runs.map((run) => {
    const task = taskOf(run, {
      message: started.get(run.id),
      messages: said.filter(({ runId }) => runId === run.id),
      artifacts: found.get(run.issueId ?? ''),
      question: asked.get(run.id),
    });
    return { ...task, history: task.history.slice(0, historyLength) };
  });
}

/** Reads the artifacts of several issues, by issue id. */
async function artifactsOf(caller: Caller, runs: readonly Run[]): Promise<Map<string, Artifact[]>> {
  const issueIds = [...new Set(runs.flatMap(({ issueId }) => issueId ?? []))];
  if (issueIds.length === 0 || !admits(caller, 'artifacts:read')) return new Map();
  const reach = withinReach(caller);
  const rows = await Artifact.findNewestByKeys('issueId', issueIds, reach, previewSizes.perParent);
  const found = new Map<string, Artifact[]>();
  for (const row of rows) found.set(row.issueId!, [...(found.get(row.issueId!) ?? []), row]);
  return found;
}

export interface TaskFilter extends Detail {
  contextId?: string | undefined;
  status?: RunStatus | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A page of tasks, newest first, with the total number of tasks in the list. */
export async function listTasks(caller: Caller, filter: TaskFilter): Promise<Page<Task> & { total: number }> {
  const { contextId, status, limit, cursor, historyLength } = filter;
  const { data, nextCursor, total } = contextId
    ? await runsIn(caller, contextId, { limit, cursor })
    : await allRuns(caller, { limit, cursor }, status);
  const runs = data.filter((run) => !status || run.status === status);
  const ids = runs.map(({ id }) => id);
  const messages = [messagesOfRuns(ids), historyLength === 0 ? [] : readMessageTexts(caller, ids)] as const;
  const tasks = await tasksOf(caller, runs, messages, filter);
  return { data: tasks, nextCursor, total };
}

type Paging = Pick<TaskFilter, 'limit' | 'cursor'>;

async function allRuns(caller: Caller, page: Paging, status?: RunStatus) {
  const [found, total] = await Promise.all([listRuns(caller, { status, ...page }), countRuns(caller, status)]);
  return { total, ...found };
}

async function runsIn(caller: Caller, contextId: string, page: Paging) {
  const [ids, total] = await Promise.all([runsOfContext(caller, contextId, page), countContext(caller, contextId)]);
  const runs = await Run.findByKeys('id', ids.data, withinReach(caller));
  return { data: runs.reverse(), nextCursor: ids.nextCursor, total };
}
