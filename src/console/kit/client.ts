// GraphQL client of the console. Queries of one tick share an HTTP request, and equal queries in it are sent once.
import type { Operation } from '../generated/documents.ts';
import { csrf, org } from './page.ts';

/** An error of the API (docs/contract.md#errors). */
export interface ProblemBody {
  title: string;
  description: string;
  retryable: boolean;
  code?: string;
  fields?: { path: string; message: string }[];
  retryAfterSeconds?: number;
}

export class Failure extends Error {
  readonly problem: ProblemBody;
  constructor(problem: ProblemBody) {
    super(problem.title);
    this.problem = problem;
  }
}

/** Whether a change was refused because the record was changed after it was read. */
export const isRecordChanged = (error: unknown): boolean =>
  error instanceof Failure && error.problem.code === 'record_changed';

/**
 * Converts an error to a problem: the API's own problem, or else a problem that says that the service could not be reached.
 * @param kept The sentence that tells a person without a connection whether the text in the form is kept
 */
export const problemOf = (error: unknown, kept = 'Try again.'): ProblemBody =>
  error instanceof Failure
    ? error.problem
    : { title: 'No connection', description: `The service could not be reached. ${kept}`, retryable: true };

interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions?: { problem?: ProblemBody } }[];
}

interface PendingRequest {
  body: { query: string; variables: unknown };
  promise: Promise<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Milliseconds until a mutation whose response was lost is sent again. */
const resendAfter = 1_000;
/** Maximum number of operations that the service accepts in a batch. */
const atOnce = 20;
let queue = new Map<string, PendingRequest>();

/** Sends a query and returns its data. `alone` sends it in its own request, because the cost of a request is limited. @throws Failure */
export function ask<Data, Variables>(
  { text }: Operation<Data, Variables>,
  variables: Variables,
  { alone = false } = {},
): Promise<Data> {
  if (alone) {
    const asked: PendingRequest = { body: { query: text, variables }, ...Promise.withResolvers<unknown>() };
    void send([asked]);
    return asked.promise as Promise<Data>;
  }
  const key = JSON.stringify([text, variables]);
  const asked = queue.get(key) ?? { body: { query: text, variables }, ...Promise.withResolvers<unknown>() };
  if (queue.size === 0) setTimeout(flush);
  queue.set(key, asked);
  return asked.promise as Promise<Data>;
}

function flush(): void {
  const all = [...queue.values()];
  queue = new Map();
  for (let first = 0; first < all.length; first += atOnce) void send(all.slice(first, first + atOnce));
}

async function send(batch: PendingRequest[]): Promise<void> {
  try {
    const answers = await post(batch.map(({ body }) => body));
    for (const [i, { resolve, reject }] of batch.entries()) {
      const { data, errors } = answers[i] ?? {};
      // A failed part of the query is shown as absent if other parts succeeded.
      if (data && Object.values(data).some((value) => value !== null)) resolve(data);
      else reject(failureOf(errors));
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

/** Tells the page when the session has ended (connection.tsx). */
export const signedOut = new EventTarget();

async function post(body: unknown, more: Record<string, string> = {}): Promise<Answer[]> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-csrf-token': csrf,
      // A page stays in its organization when another organization is chosen in another tab.
      'x-org-id': org,
      ...more,
    },
    body: JSON.stringify(body),
  });
  if (response.status === 401) {
    signedOut.dispatchEvent(new Event('signout'));
    // The page opens again after the sign-in.
    return new Promise(() => {});
  }
  const answered: Answer | Answer[] = await response.json();
  if (Array.isArray(answered)) return answered;
  if (answered.data) return [answered];
  throw failureOf(answered.errors);
}

/** For each purpose, its last request that has not succeeded yet. If the same request is sent again, it gets the same key. */
const unsettled = new Map<string, { body: string; key: string }>();

/** The same request keeps its key; another body (other values, a newer `ifUpdatedAt`) gets a new one. */
function keyOf(purpose: string, body: string): string {
  const last = unsettled.get(purpose);
  if (last?.body === body) return last.key;
  const key = crypto.randomUUID();
  unsettled.set(purpose, { body, key });
  return key;
}

/**
 * Sends a mutation in its own request and returns its data. Repeats of the same request for the same purpose take effect once; a request whose response was lost is repeated automatically. @throws Failure
 */
export async function mutate<Data, Variables>(
  { text }: Operation<Data, Variables>,
  variables: Variables,
  purpose: string = crypto.randomUUID(),
): Promise<Data> {
  const key = keyOf(purpose, JSON.stringify([text, variables]));
  const once = () => post({ query: text, variables }, { 'idempotency-key': key });
  const [answer] = await once().catch(async (error) => {
    if (error instanceof Failure) throw error;
    await new Promise((resolve) => setTimeout(resolve, resendAfter));
    return once();
  });
  if (answer!.errors) throw failureOf(answer!.errors);
  unsettled.delete(purpose);
  return answer!.data as Data;
}

export function failureOf(errors: Answer['errors']): Failure {
  const [first] = errors ?? [];
  return new Failure(
    first?.extensions?.problem ?? {
      title: 'Something went wrong',
      description: first?.message ?? 'The service returned an invalid response.',
      retryable: true,
    },
  );
}
