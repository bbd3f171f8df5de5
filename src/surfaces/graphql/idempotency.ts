// Executes a mutation with the header Idempotency-Key only once: when the client repeats the mutation because the response was lost, the
// client gets the response to the first call. In a batch, the header has no effect. The rules for a POST of the REST API also apply here
// (foundation/postgres/idempotency.ts): all fields of the operation are one transaction, and only a success is recorded; after an error
// nothing was written. A field that commits in several steps must be the only field of its operation. The transaction begins only with the
// execution, so an operation that waits for its organization's capacity holds no connection.
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { once } from '#foundation/postgres/idempotency.ts';
import { invalid } from '#foundation/problem.ts';
import { acceptedJson, type Operations } from './requests.ts';

/** The idempotency key of a request, and the outcome of its mutation. */
export interface Keyed {
  readonly key: string;
  /** The error that prevented the execution of the mutation. */
  refusal?: unknown;
  replayed?: boolean;
}

/** The key of the request; undefined without a header, and for a batch. Queries ignore the key. */
export function idempotencyKeyOf({ req }: Exchange, operations: Operations): Keyed | undefined {
  const key = req.headers['idempotency-key'];
  return typeof key === 'string' && !Array.isArray(operations) ? { key } : undefined;
}

/** Thrown to roll back the transaction when the result contains errors; contains that result. */
class Unrecorded extends Error {
  readonly result: ExecutionResult;
  constructor(result: ExecutionResult) {
    super('answered with errors');
    this.result = result;
  }
}

interface Repeatable {
  exchange: Exchange;
  caller: Caller;
  operations: Operations;
  keyed?: Keyed | undefined;
}

/** A plugin that executes a mutation with a key only once. It must follow the plugins that select how operations are executed. */
export function idempotencyPlugin(): Plugin<object, Repeatable> {
  return {
    onExecute({ args: { document, operationName, contextValue }, executeFn, setExecuteFn }) {
      const { keyed } = contextValue as unknown as Repeatable;
      const operation = getOperationAST(document, operationName);
      if (!keyed || operation?.operation !== 'mutation') return;
      const isAlone = countFields(operation, document) === 1;
      setExecuteFn((args) => executeOnce(contextValue as unknown as Repeatable, keyed, isAlone, () => executeFn(args)));
    },
  };
}

/** Number of top-level fields of an operation, including those excluded by a directive. */
function countFields({ selectionSet }: OperationDefinitionNode, { definitions }: DocumentNode): number {
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, one) => {
      if (one.kind === Kind.FIELD) return sum + Number(one.name.value !== '__typename');
      if (one.kind === Kind.INLINE_FRAGMENT) return sum + count(one.selectionSet);
      const named = (node: DocumentNode['definitions'][number]) =>
        node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === one.name.value;
      return sum + count((definitions.find(named) as { selectionSet: SelectionSetNode }).selectionSet);
    }, 0);
  return count(selectionSet);
}

async function executeOnce(
  { exchange, caller: { credentialId, orgId }, operations }: Repeatable,
  keyed: Keyed,
  isAlone: boolean,
  execute: () => ExecutionResult | Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const { query, operationName, variables } = operations as Record<string, unknown>;
  const input = { query, operationName, variables };
  const request = { credentialId, orgId, key: keyed.key, route: 'POST /graphql', path: exchange.path, input, isAlone };
  try {
    // The client must accept JSON, because the service can store a JSON response and send it again, but not a stream of events.
    if (!acceptedJson(exchange))
      throw invalid.field('Accept', 'must name application/json for a mutation with an Idempotency-Key');
    const { body, replayed } = await once(request, async () => {
      const result = await execute();
      if (result.errors) throw new Unrecorded(result);
      return { status: 200, body: JSON.stringify(result) };
    });
    keyed.replayed = replayed;
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof Unrecorded) return error.result;
    keyed.refusal = error;
    return { errors: [new GraphQLError('refused')] };
  }
}
