// The platform as a runtime sees it: GraphQL mutations, and signed addresses for bytes. A call whose answer got lost is made
// again: every report says who it is (a lease, a key, a sequence number), so that the second time changes nothing.
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** What the platform said no to: `code` is `lease_lost`, `unauthenticated`, `invalid_request`, … */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** How long a platform that is away is called again before the call is given up, in milliseconds. */
const patience = 45_000;

export type Platform = ReturnType<typeof connect>;

export function connect(url: string, token: string) {
  /** One operation; what is retryable is tried again. */
  async function ask<T>(query: string, variables: object): Promise<T> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, variables });
    return again(async () => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(20_000),
      });
      const answer = await response.json();
      const problem = answer.errors?.[0]?.extensions?.problem ?? (response.ok ? undefined : answer);
      if (problem && !problem.retryable) throw new Refusal(problem.code, problem.description);
      if (!answer.data) throw new Error(problem?.description ?? `the platform answered ${response.status}`);
      return answer.data as T;
    });
  }

  /** A mutation with its one argument, such as `claimRun(input: ClaimRunRequest!)`. */
  async function say<T = { ok: true }>(name: string, input: object, selection = '{ ok }'): Promise<T> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Request`;
    const query = `mutation ($input: ${type}!) { answer: ${name}(input: $input) ${selection} }`;
    return (await ask<{ answer: T }>(query, { input })).answer;
  }

  /** PUTs a file to an upload address. One that has arrived before is fine (409). */
  const upload = (address: string, file: string, bytes: number): Promise<void> =>
    again(async () => {
      const body = Readable.toWeb(createReadStream(file)) as BodyInit;
      const headers = { 'content-length': String(bytes) };
      const response = await fetch(address, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
      if (response.ok || response.status === 409) return;
      if (response.status >= 500) throw new Error(`the upload was answered with ${response.status}`);
      throw new Refusal(String(response.status), await response.text());
    });

  return { ask, say, upload };
}

async function again<T>(call: () => Promise<T>): Promise<T> {
  const end = Date.now() + patience;
  for (let pause = 250; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      return await call();
    } catch (error) {
      if (error instanceof Refusal || Date.now() + pause > end) throw error;
      await wait(pause);
    }
  }
}
