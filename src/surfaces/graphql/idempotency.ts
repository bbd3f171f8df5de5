// Idempotency-Key on a mutation that is sent on its own: who repeats it, because the answer was lost, gets the answer of the first
// time. As on a POST of REST (foundation/idempotency.ts): all fields of the operation are one transaction, and only a success is
// recorded; after an error nothing was written.
import { getOperationAST, parse } from 'graphql';
import type { Caller } from '#access/principal.ts';
import type { Exchange } from '#foundation/http.ts';
import { once } from '#foundation/idempotency.ts';
import { invalid } from '#foundation/problem.ts';
import { graphql } from '#limits.ts';
import { acceptedJson, answerType, type Operations } from './requests.ts';
import { PlainResponse } from './respond.ts';

/** The key of the request; null where none counts: for a batch, and for all but mutations. */
export function keyOf({ req }: Exchange, operations: Operations): string | null {
  const key = req.headers['idempotency-key'];
  if (typeof key !== 'string' || Array.isArray(operations)) return null;
  return isMutation(operations) ? key : null;
}

function isMutation({ query, operationName }: Record<string, unknown>): boolean {
  try {
    const name = typeof operationName === 'string' ? operationName : null;
    return getOperationAST(parse(String(query), { maxTokens: graphql.tokens }), name)?.operation === 'mutation';
  } catch {
    // Yoga says what is wrong with it.
    return false;
  }
}

/** Leaves the transaction with an answer that holds errors. */
class Unrecorded extends Error {
  readonly response: PlainResponse;
  constructor(response: PlainResponse) {
    super('answered with errors');
    this.response = response;
  }
}

/** The response of the operation, or that of its first time. @throws as `once`, and 400 for a caller that accepts events alone */
export async function respondOnce(
  exchange: Exchange,
  { credentialId, orgId }: Caller,
  { query, operationName, variables }: Record<string, unknown>,
  key: string,
  respond: () => Promise<PlainResponse>,
): Promise<PlainResponse> {
  // Events cannot be repeated.
  if (!acceptedJson(exchange))
    throw invalid('Accept: must name application/json for a mutation with an Idempotency-Key.');
  const request = { route: 'POST /graphql', path: exchange.path, input: { query, operationName, variables } };
  try {
    const { status, body, replayed } = await once(`${credentialId} ${orgId}`, key, request, async () => {
      const response = await respond();
      const text = response.body as string;
      if (response.status !== 200 || 'errors' in JSON.parse(text)) throw new Unrecorded(response);
      return { status: response.status, body: text };
    });
    const headers = {
      'content-type': `${answerType(exchange)}; charset=utf-8`,
      ...(replayed && { 'idempotency-replayed': 'true' }),
    };
    return new PlainResponse(body, { status, headers });
  } catch (error) {
    if (error instanceof Unrecorded) return error.response;
    throw error;
  }
}
