// Formats errors for GraphQL clients: each has the contract's `Error` record in `extensions.problem`, next to its code. The cause of an
// internal error is not disclosed.
import { GraphQLError } from 'graphql';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { invalid, methodNotAllowed, type Problem, type ProblemDetails, toProblem } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import { answerType } from './requests.ts';

/**
 * The status and headers that yoga reads from `extensions.http` of an error, and removes from the body. If `spec` is true, `status` does not
 * apply to a response of the type application/json: the status of such a response is 200.
 */
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
 * The error of one result. `executed` is false when the operation was refused before a resolver ran: only then does the response have the
 * error's HTTP status (GraphQL over HTTP, section 6.4); the result of an execution is a 200.
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

/** Whether GraphQL itself rejected the caller's document, parameters or variables. */
function isOfTheRequest(error: GraphQLError, executed: boolean): boolean {
  let cause = error;
  while (cause.originalError instanceof GraphQLError) cause = cause.originalError;
  if (cause.originalError || cause.name !== 'GraphQLError') return false;
  // A GraphQLError that is thrown while an operation is executed has one of two causes. If the caller has sent an invalid argument, the
  // error has a location in the document. If a resolver of the service has returned a value that a scalar rejects, the error has no
  // location.
  return !executed || (cause !== error && cause.nodes !== undefined);
}

/** The message without GraphQL's suggestions of names, for a caller that is not allowed to read the schema. */
const messageOf = ({ message }: GraphQLError, hidesNames: boolean): string =>
  hidesNames ? message.replace(/ ?Did you mean .+\?/, '') : message;

const extensionsOf = (problem: ProblemDetails) => ({ code: problem.code, problem });

/** 400: no part of the result is sent. Changes made by a mutation of the request are kept. */
export const answerTooLarge = (size: number): Problem =>
  invalid(
    `The answer has ${size} bytes; the maximum is ${bytes.graphqlAnswer}. Ask for fewer rows (limit) or fewer fields.`,
  );

/** Responds to a request that never became an operation, with an HTTP status and a GraphQL body. */
export function refuseGraphql(exchange: Exchange, { status, headers, details }: Problem): void {
  const answered = { errors: [{ message: details.description, extensions: extensionsOf(details) }] };
  answer(exchange, status, JSON.stringify(answered), {
    'content-type': `${answerType(exchange)}; charset=utf-8`,
    'cache-control': 'no-store',
    ...headers,
  });
}
