// Problems as the errors of the agent-to-agent protocol (A2A 1.0 §3.3.2). A problem without an equivalent in the protocol is a JSON-RPC
// server error with the problem's own description.
import {
  A2AError,
  JsonRpcTransportError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { Run } from '#domain/work/runs/model.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { isTooBusy, type Problem, toProblem } from '#foundation/problem.ts';
import { errorsPath } from '#foundation/problem-codes.ts';

/** The first JSON-RPC code that is reserved for errors of servers (JSON-RPC 2.0 §5.1). */
const serverError = -32_000;

/** A call whose internal errors are reported. */
export interface Failing {
  report(error: unknown): void;
  /** The problem that made the call fail. */
  problem?: Problem;
}

/**
 * Returns the A2A protocol's error for a thrown value. Also reports an internal error, and stores the problem in `call` for `withDetails`.
 */
export function a2aErrorOf(error: unknown, call: Failing): Error {
  if (error instanceof A2AError) return error;
  const problem = toProblem(error);
  if (problem.status >= 500 && !isTooBusy(problem)) call.report(error);
  call.problem = problem;
  return translated(problem);
}

/** The JSON-RPC error, with the problem's record among its details (google.rpc.Status). */
export function withDetails(error: unknown, { problem }: Failing): unknown {
  if (!problem) return error;
  const detail = { '@type': `${addresses().baseHost}${errorsPath}`, ...problem.details };
  const { data = [] } = error as { data?: unknown };
  return { ...(error as object), data: [data, detail].flat() };
}

function translated({ status, body, noun }: Problem): Error {
  const { description } = body;
  if (status === 404) return noun === Run.noun ? new TaskNotFoundError() : new RequestMalformedError(description);
  if (status === 400 || status === 422) return new RequestMalformedError(description);
  return new JsonRpcTransportError({ jsonrpc: '2.0', id: null, error: { code: serverError, message: description } });
}

/** The error for a method that cannot be used on this task. */
export const unsupported = (message: string): Error => new UnsupportedOperationError(message);
