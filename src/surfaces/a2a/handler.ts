// The methods of the agent-to-agent protocol (A2A 1.0 §3.1) over runs. The SDK reads and writes both wire formats, 1.0 and 0.3.
import {
  type ListTasksRequest,
  type ListTasksResponse,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { ExtendedAgentCardNotConfiguredError, TaskNotCancelableError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { originOfChanges } from '#access/origin.ts';
import type { Caller } from '#access/principal.ts';
import {
  deletePushConfig,
  listPushConfigs,
  type PushConfig,
  requirePublicAddress,
  savePushConfig,
} from '#domain/work/a2a/push.ts';
import { listTasks, readTask, taskStates } from '#domain/work/a2a/tasks.ts';
import type { RunStatus } from '#domain/work/runs/model.ts';
import { cancelRun } from '#domain/work/runs/operations.ts';
import { withOrigin } from '#foundation/postgres/origin.ts';
import { invalid, notFound, Problem } from '#foundation/problem.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import { text } from '#limits.ts';
import { a2a, a2aPush } from './bounds.ts';
import { a2aErrorOf, type Failing, unsupported } from './errors.ts';
import { eventsOfTask, type Followed, followTask, isFinalTask } from './follow.ts';
import { checkShape } from './order.ts';
import { type Answer, receive } from './send.ts';

/** Context of a call, in addition to its parameters. */
export interface Call extends Followed, Failing {
  caller: Caller;
}

export const callKey = 'call';
const callOf = (context: ServerCallContext): Call => context.state.get(callKey) as Call;

const id = z.string().min(a2a.id.min).max(a2a.id.max);
const historyLength = z.int().min(0).max(1_000).optional();
const secret = z
  .string()
  .min(a2aPush.secret.min)
  .max(a2aPush.secret.max)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');
const Config = z.object({
  id: id.optional(),
  url: z.string().min(a2aPush.url.min).max(a2aPush.url.max),
  token: secret.optional(),
  authentication: z
    .object({ scheme: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,50}$/, 'must be a token'), credentials: secret })
    .optional(),
});

export function createHandler(): A2ARequestHandler {
  return {
    ...pushMethods(),
    getAgentCard: () => Promise.reject(new ExtendedAgentCardNotConfiguredError()),
    // In both versions the error says that there is no extended card, as the public card also says (A2A 1.0 §3.3.4, 0.3 §7.10).
    getAuthenticatedExtendedAgentCard: (_, { requestedVersion }) =>
      Promise.reject(
        requestedVersion === '0.3'
          ? new ExtendedAgentCardNotConfiguredError()
          : unsupported('There is no extended agent card.'),
      ),

    sendMessage: method(async (call, params) => {
      const { configuration } = params;
      const history = checkShape(historyLength, configuration?.historyLength, 'configuration.historyLength');
      const answer = await start(call, params);
      if ('message' in answer) return answer.message;
      if (configuration?.returnImmediately) {
        return readTask(call.caller, answer.runId, { historyLength: history, artifacts: true });
      }
      const task = await settled(call, answer.runId);
      return { ...task, history: task.history.slice(0, history) };
    }),

    sendMessageStream: stream(async function* (call, params) {
      const answer = await start(call, params);
      if ('message' in answer) yield { payload: { $case: 'message', value: answer.message } };
      else yield* eventsOfTask(followTask(call.caller, answer.runId, call));
    }),

    resubscribe: stream(async function* (call, params) {
      const runId = checkShape(id, params.id, 'id');
      const task = await readTask(call.caller, runId, { artifacts: false });
      if (isFinalTask(task)) throw invalid.field('id', 'the task has ended and no longer changes: get it instead');
      yield* eventsOfTask(followTask(call.caller, runId, call));
    }),

    getTask: method(({ caller }, params) =>
      readTask(caller, checkShape(id, params.id, 'id'), {
        historyLength: checkShape(historyLength, params.historyLength, 'historyLength'),
        artifacts: true,
      }),
    ),

    listTasks: method(({ caller }, params) => list(caller, params)),

    cancelTask: method(async ({ caller }, params) => {
      const runId = checkShape(id, params.id, 'id');
      await recorded(caller, () => cancelRun(caller, runId)).catch((error) => {
        if (error instanceof Problem && error.status === 409) throw new TaskNotCancelableError(error.body.description);
        throw error;
      });
      return readTask(caller, runId, { artifacts: true });
    }),
  };
}

/** Methods for the push notification configurations of tasks. */
const pushMethods = (): Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
> => ({
  createTaskPushNotificationConfig: method(async ({ caller }, params) => {
    const config = { ...readConfig(params), runId: checkShape(id, params.taskId, 'taskId') };
    return withoutSecrets(await recorded(caller, () => savePushConfig(caller, config)));
  }),

  getTaskPushNotificationConfig: method(async ({ caller }, params) => {
    const configs = await listPushConfigs(caller, checkShape(id, params.taskId, 'taskId'));
    // Clients of version 0.3 may omit the id: they get the first configuration.
    const found = params.id ? configs.find((one) => one.id === params.id) : configs[0];
    if (!found) throw notFound('push notification configuration');
    return withoutSecrets(found);
  }),

  listTaskPushNotificationConfigs: method(async ({ caller }, params) => ({
    configs: (await listPushConfigs(caller, checkShape(id, params.taskId, 'taskId'))).map(withoutSecrets),
    nextPageToken: '',
  })),

  deleteTaskPushNotificationConfig: method(({ caller }, params) => {
    const [taskId, configId] = [checkShape(id, params.taskId, 'taskId'), checkShape(id, params.id, 'id')];
    return recorded(caller, () => deletePushConfig(caller, taskId, configId));
  }),
});

/** Returns the run's task once it is final or needs input from its client, or when a call may not be kept waiting any longer. */
async function settled({ caller, ...followed }: Call, runId: string): Promise<Task> {
  const signal = withTimeLimit(followed.signal, a2a.blockingMs);
  let latest: Task | undefined;
  for await (const task of followTask(caller, runId, { ...followed, signal })) {
    latest = task;
    // A task that waits for input from its client is the result of the call.
    if (task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED) break;
  }
  return latest ?? readTask(caller, runId, { artifacts: true });
}

async function start({ caller }: Call, { message, configuration }: SendMessageRequest): Promise<Answer> {
  const push = configuration?.taskPushNotificationConfig;
  // The configuration is checked before anything is started.
  const config = push && readConfig(push);
  if (config) await requirePublicAddress(config.url);
  return recorded(caller, async () => {
    const answer = await receive(caller, message);
    // The message id is the default id of the configuration, so that a repeated message replaces its own configuration.
    const configId = config?.id ?? message?.messageId;
    if (config && configId && 'runId' in answer)
      await savePushConfig(caller, { ...config, id: configId, runId: answer.runId });
    return answer;
  });
}

/**
 * Makes a change, and makes the audit log record the caller and the method as its origin. Calls that read or wait have no origin, because it
 * takes CPU time from all requests of the process as long as it lasts.
 */
const recorded = <T>(caller: Caller, change: () => Promise<T>): Promise<Awaited<T>> =>
  withOrigin(() => originOfChanges(caller, caller.source), change);

async function list(caller: Caller, params: ListTasksRequest): Promise<ListTasksResponse> {
  const { min, max, default: standard } = a2a.pageSize;
  const limit = checkShape(z.int().min(min).max(max), params.pageSize ?? standard, 'pageSize');
  if (params.statusTimestampAfter) throw invalid.field('statusTimestampAfter', 'this filter is not supported');
  const page = await listTasks(caller, {
    limit,
    contextId: params.contextId ? checkShape(id, params.contextId, 'contextId') : undefined,
    status: statusOf(params.status),
    cursor: params.pageToken ? checkShape(z.string().max(text.cursor.max), params.pageToken, 'pageToken') : undefined,
    historyLength: checkShape(historyLength, params.historyLength, 'historyLength') ?? 0,
    artifacts: params.includeArtifacts ?? false,
  });
  return { tasks: page.data, nextPageToken: page.nextCursor ?? '', pageSize: limit, totalSize: page.total };
}

/** Wraps a method so that its problems are thrown as errors of the protocol. */
const method =
  <P, R>(run: (call: Call, params: P) => Promise<R>) =>
  async (params: P, context: ServerCallContext): Promise<R> => {
    const call = callOf(context);
    try {
      return await run(call, params);
    } catch (error) {
      throw a2aErrorOf(error, call);
    }
  };

const stream = <P>(run: (call: Call, params: P) => AsyncGenerator<StreamResponse, void, undefined>) =>
  async function* (params: P, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
    const call = callOf(context);
    try {
      yield* run(call, params);
    } catch (error) {
      throw a2aErrorOf(error, call);
    }
  };

function readConfig(config: TaskPushNotificationConfig): Omit<PushConfig, 'id' | 'runId'> & { id?: string } {
  const [configId, token] = [config.id || undefined, config.token || undefined];
  const requested = { id: configId, url: config.url, token, authentication: config.authentication ?? undefined };
  const read = checkShape(Config, requested, 'pushNotificationConfig');
  return {
    url: read.url,
    token: read.token ?? null,
    authentication: read.authentication ?? null,
    ...(read.id && { id: read.id }),
  };
}

/** The configuration without its secrets, which are write-only. */
const withoutSecrets = ({ id: configId, runId, url, authentication }: PushConfig): TaskPushNotificationConfig => ({
  tenant: '',
  id: configId,
  taskId: runId,
  url,
  token: '',
  authentication: authentication ? { scheme: authentication.scheme, credentials: '' } : undefined,
});

function statusOf(state: TaskState | undefined): RunStatus | undefined {
  if (state === undefined || state === TaskState.TASK_STATE_UNSPECIFIED) return undefined;
  const found = Object.entries(taskStates).find(([, one]) => one === state);
  if (!found) throw invalid.field('status', 'no task of this agent has this state');
  return found[0] as RunStatus;
}
