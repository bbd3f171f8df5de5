// The trace of a mission: a span of the mission, a span of each step, and spans of the model and tool calls of the agent. The ids of the
// spans are derived from the ids of the records, so that any process can add spans, also after a restart, and a runtime can send the ids of
// its calls to other systems (docs/observability.md#traces-of-missions). Prompts, answers and arguments are not part of a trace.
import { createHash } from 'node:crypto';
import { now } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { outermost } from '#foundation/postgres/enclosing.ts';
import {
  type Attributes,
  type OpenSpan,
  type TraceContext,
  type Tracing,
  tracing,
  untraced,
} from '#foundation/tracing/tracing.ts';
import { genAi, usageOf } from './gen-ai.ts';
import { Run } from './model.ts';
import { RunStep, type Tokens } from './step-model.ts';

const hashed = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

const traceIdOf = (runId: string): string => hashed(`trace of ${runId}`, 32);
/** The id of the span of a run, a step or a model call. Runtimes derive the span id of a model call in the same way. */
const spanIdOf = (id: string): string => hashed(id, 16);

const contextOf = (on: Tracing, runId: string, id: string): TraceContext & { traceparent: string } => {
  const traceId = traceIdOf(runId);
  return { traceparent: `00-${traceId}-${spanIdOf(id)}-0${Number(on.isSampled(traceId))}` };
};

/** The trace context of a step, which its runtime passes on; null when tracing is off. */
export function traceparentOf(runId: string, stepId: string): string | null {
  const on = tracing();
  return on ? contextOf(on, runId, stepId).traceparent : null;
}

/** Links the span of a request, event or job to the traces of the missions that it starts. */
export function linkMissions(runIds: readonly string[]): void {
  const on = tracing();
  const span = on?.active();
  if (!on || !span) return;
  for (const runId of runIds) span.link(contextOf(on, runId, runId));
}

interface EndedCall {
  runId: string;
  stepId: string;
  callId: string;
  vendor: string | undefined;
  model: string;
  tokens: Tokens;
  /** The HTTP status of the vendor; 0 when there was no answer. */
  status: number;
  beganAt: number;
}

/** Counts a model call, and adds it to the trace of its mission. */
export function recordCall({ runId, stepId, callId, vendor, model, tokens, status, beganAt }: EndedCall): void {
  const endedAt = now();
  const error = status === 0 ? 'no_answer' : status >= 400 ? String(status) : undefined;
  genAi().countCall({ vendor, tokens, ms: endedAt - beganAt, error });
  const on = tracing();
  if (!on) return;
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    [genAi().provider]: vendor,
    'gen_ai.request.model': model,
    ...usageOf(tokens),
    ...(status > 0 && { 'http.response.status_code': status }),
  };
  const described: Described = { name: `chat ${model}`, kind: 'client', attributes, beganAt };
  const of = { runId, parent: contextOf(on, runId, stepId) };
  addSpan(on, of, { ...described, ids: { spanId: spanIdOf(callId) } }, { endedAt, error });
}

interface Of {
  runId: string;
  parent?: TraceContext;
}

type Described = Omit<Parameters<Tracing['begin']>[0], 'parent'>;

const begin = (on: Tracing, { runId, parent }: Of, { attributes, ...described }: Described): OpenSpan =>
  on.begin({
    ...described,
    ...(parent && { parent }),
    attributes: { ...attributes, 'gen_ai.conversation.id': runId },
  });

/** Adds a span that has ended. */
function addSpan(
  on: Tracing,
  of: Of,
  described: Described,
  end: { endedAt: number; error?: string | undefined },
): void {
  const span = begin(on, of, described);
  if (end.error) span.fail(end.error);
  span.end(end.endedAt);
}

const latestStepSql = 'select id from run_steps where run_id = $1 order by seq desc limit 1';

/**
 * Begins the span of a tool call as a child of the current step's span, and links it to the request that makes the call. Returns undefined
 * when nothing is traced.
 * @param beganAt When the call began; absent means now
 */
export async function beginToolCall(
  runId: string,
  server: string,
  tool: string,
  beganAt?: number,
): Promise<OpenSpan | undefined> {
  const on = tracing();
  if (!on) return undefined;
  const [step] = await sql<{ id: string }>(latestStepSql, [runId]);
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.type': 'extension',
    'mcp.method.name': 'tools/call',
    'aep.mcp_server': server,
  };
  const link = on.active()?.context();
  const described = { name: `execute_tool ${tool}`, attributes, ...(link && { link }), ...(beganAt && { beganAt }) };
  return begin(on, { runId, parent: contextOf(on, runId, step?.id ?? runId) }, described);
}

/** Ends the span of a tool call. @param endedAt When the call ended; absent means now */
export function endToolCall(span: OpenSpan | undefined, outcome: string, endedAt?: number): void {
  if (outcome !== 'ok') span?.fail(outcome);
  span?.end(endedAt);
}

/** Adds the spans of runs and steps that the transaction ends, once it has committed. */
export function recordEnds(trx: Transaction, runIds: readonly string[], stepIds: readonly string[] = []): void {
  const on = tracing();
  if (!on || runIds.length + stepIds.length === 0) return;
  const add = async () => {
    const [steps, runs] = [await RunStep.findByKeys('id', stepIds), await Run.findByKeys('id', runIds)];
    for (const step of steps) addStep(on, step);
    for (const run of runs) addMission(on, run);
  };
  // The spans are added outside the transaction's async context, because the transaction has ended by then.
  const later = () => void setImmediate(() => void add().catch(() => {}));
  untraced(() => outermost(trx).executionPromise.then(later, () => {}));
}

function addStep(on: Tracing, step: RunStep): void {
  const { id, runId, agent, role, model, harness, startedAt, finishedAt, status } = step;
  // A step that never began gets no span.
  if (startedAt === null || finishedAt === null) return;
  const operation = genAi().step(role);
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.agent.name': agent.name,
    'gen_ai.agent.id': agent.agentId ?? undefined,
    'gen_ai.agent.version': agent.version ? String(agent.version) : undefined,
    ...(harness !== 'shell' && { 'gen_ai.request.model': model }),
    ...usageOf(step),
    ...{ 'aep.step_id': id, 'aep.role': role, 'aep.harness': harness, 'aep.status': status },
  };
  const error = status === 'failed' ? 'failed' : undefined;
  genAi().countStep(finishedAt - startedAt, error);
  const described = {
    name: `${operation} ${agent.name}`,
    attributes,
    beganAt: startedAt,
    ids: { spanId: spanIdOf(id) },
  };
  addSpan(on, { runId, parent: contextOf(on, runId, runId) }, described, { endedAt: finishedAt, error });
}

function addMission(on: Tracing, { id, orgId, projectId, kind, status, createdAt, finishedAt }: Run): void {
  const operation = genAi().mission;
  const attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.agent.name': 'mission',
    ...{ 'aep.organization_id': orgId, 'aep.project_id': projectId, 'aep.kind': kind, 'aep.status': status },
  };
  const ids = { spanId: spanIdOf(id), traceId: traceIdOf(id) };
  const end = { endedAt: finishedAt ?? now(), error: status === 'failed' ? 'failed' : undefined };
  addSpan(on, { runId: id }, { name: `${operation} mission`, attributes, beganAt: createdAt, ids }, end);
}
