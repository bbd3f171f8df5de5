// Follows a task: its current state, then each change, until it is final, the caller is no longer authorized, or the reader disconnects.
import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { readTask, taskStates } from '#domain/work/a2a/tasks.ts';
import { now, seconds } from '#foundation/clock.ts';
import { watch } from '#foundation/postgres/changes.ts';

/**
 * If the last check of the caller's credential is at least this many milliseconds old, the credential is checked again before the task is
 * read.
 */
const maxCheckAgeMs = seconds(1);

/** The context of a call that watches a task until the task has ended. */
export interface Followed {
  /** Looks the caller up again. @throws 401 when the credential is no longer valid */
  authenticate(): Promise<Caller>;
  /** Signal that is aborted when the reader disconnects, and after the maximum lifetime. */
  signal: AbortSignal;
}

const open = new Set([taskStates.dispatching, taskStates.running, TaskState.TASK_STATE_INPUT_REQUIRED]);
export const isFinalTask = ({ status }: Task): boolean => !open.has(status!.state);

/** Yields the task at once and after each of its changes. Ends after it has yielded a task in a final state. */
export async function* followTask(
  caller: Caller,
  runId: string,
  { authenticate, signal }: Followed,
): AsyncGenerator<Task> {
  let [present, checkedAt] = [caller, now()];
  for await (const _ of watch([runId], signal)) {
    if (now() - checkedAt >= maxCheckAgeMs) {
      [present, checkedAt] = [await authenticate(), now()];
      // Reading a task normally requires `missions:read`. The caller that has started the task needs only `missions:run` to watch it in
      // this call.
      admit(present, present.scopes.has('missions:read') ? 'missions:read' : 'missions:run');
    }
    const task = await readTask(present, runId, { artifacts: true });
    yield task;
    if (isFinalTask(task)) return;
  }
}

/** The events of a stream: the task first, then its new artifacts and states (A2A 1.0 §3.1.2). */
export async function* eventsOfTask(tasks: AsyncIterable<Task>): AsyncGenerator<StreamResponse, void, undefined> {
  let before: Task | undefined;
  for await (const task of tasks) {
    if (!before) yield { payload: { $case: 'task', value: task } };
    else yield* changes(before, task);
    before = task;
  }
}

function* changes(
  before: Task,
  { id: taskId, contextId, status, artifacts, metadata }: Task,
): Generator<StreamResponse> {
  const known = new Set(before.artifacts.map(({ artifactId }) => artifactId));
  for (const artifact of artifacts.filter(({ artifactId }) => !known.has(artifactId)).reverse()) {
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    yield { payload: { $case: 'artifactUpdate', value } };
  }
  const isNews = (value: Pick<Task, 'status' | 'metadata'>) =>
    JSON.stringify([value.status?.state, value.status?.message?.parts, value.metadata]);
  if (isNews(before) !== isNews({ status, metadata })) {
    yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
  }
}
