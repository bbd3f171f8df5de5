// Problems as the errors of the agent-to-agent protocol (A2A 1.0 §3.3.2). What the protocol has no name for is a JSON-RPC server
// error with the problem's own description.
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

/** The code of JSON-RPC 2.0 §5.1 for errors that servers define. */
const serverError = -32_000;

/** A call whose failure is told. */
export interface Failing {
  report(error: unknown): void;
  /** Why it failed, when it did. */
  problem?: Problem;
}

/** The protocol's error for anything thrown. The call reports the faults of the service, and keeps the problem for `withDetails`. */
export function a2aErrorOf(error: unknown, call: Failing): Error {
  if (error instanceof A2AError) return error;
  const problem = toProblem(error);
  if (problem.status >= 500 && !isTooBusy(problem)) call.report(error);
  call.problem = problem;
  return translated(problem);
}

/** The JSON-RPC error with the record of the problem behind it among its details (google.rpc.Status). */
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

/** A method of the protocol that cannot be used on this task. */
export const unsupported = (message: string): Error => new UnsupportedOperationError(message);
