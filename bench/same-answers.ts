// Sends one request to every contender and compares the responses.
import assert from 'node:assert/strict';
import type { Request } from 'autocannon';
import { bearer, type Comparison, type Contender } from './cases.ts';
import type { Server } from './process.ts';

/** The response to one request. Throws if it is unsuccessful. */
export async function ask(server: Server, organization: number, request: Request): Promise<unknown> {
  const { path, method = 'GET', headers, body } = request;
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(headers as Record<string, string>), ...bearer(organization) },
    ...(body !== undefined && { body: String(body) }),
  });
  const text = await response.text();
  assert(response.ok, `${server.name} answers ${response.status} to ${method} ${path}: ${text}`);
  return JSON.parse(text);
}

/** Compares the responses without the values that each server generates. */
export async function assertSame({ name, contenders }: Comparison): Promise<void> {
  const answers = await Promise.all(contenders.map(answerOf));
  for (const [place, answer] of answers.entries()) {
    assert.deepEqual(
      answer,
      answers[0],
      `${name}: ${contenders[place]!.name} and ${contenders[0]!.name} answer differently`,
    );
  }
}

const newBody = JSON.stringify({ name: 'The same', repoFullName: 'acme/the-same' });

/** The response to one piece of work. If the work takes several requests, this is a list of all their responses, as for a batch. */
async function answerOf(one: Contender): Promise<unknown> {
  const { server, organization, requests, together, writes = false, sameOf = (answer: unknown) => answer } = one;
  const asked = requests.slice(0, together ?? 1).map((request) => (writes ? { ...request, body: newBody } : request));
  const answers = await Promise.all(asked.map((request) => ask(server, organization, request)));
  const own = (answer: unknown) => withoutOwn(sameOf(answer as never), writes);
  return together ? answers.map(own) : own(answers[0]);
}

function withoutOwn(value: unknown, written: boolean): unknown {
  const own = ['nextCursor', 'extensions', ...(written ? ['id', 'orgId', 'createdAt'] : [])];
  return JSON.parse(
    JSON.stringify(value, (key, member) => {
      if (written && key.endsWith('ConnectorId')) return typeof member;
      return own.includes(key) && member !== null ? undefined : member;
    }),
  );
}
