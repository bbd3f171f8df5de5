// Writes errors for GraphQL clients: each carries the contract's `Error` record under `extensions.problem` and its code next to it.
// The cause of a failure of the service is not disclosed.
import { GraphQLError } from 'graphql';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { invalid, methodNotAllowed, type Problem, type ProblemDetails, toProblem } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { answerType } from './requests.ts';

/** What yoga reads in `extensions.http` and keeps out of the body. With `spec`, application/json still answers 200. */
interface Http {
  status?: number;
  spec?: boolean;
  headers?: Record<string, string>;
}

interface DescribedError {
  error: GraphQLError;
  problem: Problem;
}

/**
 * The error of one result. `executed` is false when the operation was refused before a resolver ran: only then does it have an
 * HTTP status of its own (GraphQL over HTTP, section 6.4); the result of an execution is a 200.
 */
export function describeError(error: GraphQLError, executed: boolean, hidesNames: boolean): DescribedError {
  const known = toProblem(error);
  const ofTheRequest = known.status === 500 && isOfTheRequest(error, executed);
  const http = error.extensions?.http as Http | undefined;
  const problem = ofTheRequest ? invalid(messageOf(error, hidesNames)) : known;
  const details =
    http?.status === 405 ? { ...methodNotAllowed('').details, description: problem.body.description } : problem.details;
  const answered: Http = {
    status: (ofTheRequest && http?.status) || problem.status,
    spec: http === undefined || http.spec === true,
    headers: { ...http?.headers, ...problem.headers },
  };
  const { nodes, source, positions, path } = error;
  const extensions = { ...extensionsOf(details), ...(!executed && { http: answered }) };
  return { error: new GraphQLError(details.description, { nodes, source, positions, path, extensions }), problem };
}

/** Whether GraphQL itself refused the document, the parameters or the variables that the caller sent. */
function isOfTheRequest(error: GraphQLError, executed: boolean): boolean {
  let cause = error;
  while (cause.originalError instanceof GraphQLError) cause = cause.originalError;
  if (cause.originalError || cause.name !== 'GraphQLError') return false;
  // During an execution only an argument can still be invalid. That error points at the document from the start; one that a
  // scalar raises about a value of the service does not.
  return !executed || (cause !== error && cause.nodes !== undefined);
}

/** The message without the names that GraphQL suggests, for a caller that may not read the schema. */
const messageOf = ({ message }: GraphQLError, hidesNames: boolean): string =>
  hidesNames ? message.replace(/ ?Did you mean .+\?/, '') : message;

const extensionsOf = (problem: ProblemDetails) => ({ code: problem.code, problem });

/** 400: nothing of the answer is sent. What a mutation of the request changed stays changed. */
export const answerTooLarge = (size: number): Problem =>
  invalid(
    `The answer has ${size} bytes; the maximum is ${bytes.graphqlAnswer}. Ask for fewer rows (limit) or fewer fields.`,
  );

/** Answers a request that never became an operation: HTTP's own status, GraphQL's own body. */
export function refuseGraphql(exchange: Exchange, { status, headers, details }: Problem): void {
  const answered = { errors: [{ message: details.description, extensions: extensionsOf(details) }] };
  answer(exchange, status, JSON.stringify(answered), {
    'content-type': `${answerType(exchange)}; charset=utf-8`,
    'cache-control': 'no-store',
    ...headers,
  });
}
