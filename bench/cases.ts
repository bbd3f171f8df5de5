// What is asked of every server, and that all of them answer the same.
import assert from 'node:assert/strict';
import type { Request } from 'autocannon';
import { big, creating, idOf, inBig, ordinary, secretOf } from './database.ts';
import type { Server } from './process.ts';

export interface Case {
  name: string;
  /** The organization that is asked about. */
  organization: number;
  requests: Request[];
  /** Whether the organization has to be emptied after each turn. */
  writes?: true;
}

const inOrdinary = Array.from({ length: 100 }, (_, n) => idOf('prj', ordinary - 1 + n * 1_000));

const nested = `{
  projects(limit: 50) {
    data {
      id orgId slug name status tracker trackerConnectorId trackerTeamId trackerProjectId scmConnectorId scmOwner scmRepo
      llmConnectorId autoMerge issueCode defaultSandboxTemplateId createdAt
      organization {
        id name slug createdByUserId createdAt namePending
        memberships { orgId userId role createdAt person { id email name createdAt } }
      }
    }
    nextCursor
  }
}`;

const json = { 'content-type': 'application/json' };
let created = 0;
function newProject(): Request {
  const n = ++created;
  return { body: JSON.stringify({ name: `Creation ${n}`, repoFullName: `acme/creation-${n}` }) };
}

/** The cases of one server; the cursors are its own. */
export async function casesOf(server: Server, place: number): Promise<Case[]> {
  const page = (name: string, organization: number, search: string): Case => ({
    name,
    organization,
    requests: [{ path: `/v1/projects?${search}` }],
  });
  const creation = { method: 'POST', path: '/v1/projects', headers: json } as const;
  return [
    {
      name: 'one project',
      organization: ordinary,
      requests: inOrdinary.map((id) => ({ path: `/v1/projects/${id}` })),
    },
    page('page of 20', ordinary, 'limit=20'),
    page('page of 100', ordinary, 'limit=100'),
    {
      name: 'create a project',
      organization: creating(place),
      requests: [{ ...creation, setupRequest: (request) => ({ ...request, ...newProject() }) }],
      writes: true,
    },
    {
      name: 'GraphQL: 50 projects, nested',
      organization: ordinary,
      requests: [{ method: 'POST', path: '/graphql', headers: json, body: JSON.stringify({ query: nested }) }],
    },
    page('page of 20, depth 0', big, 'limit=20'),
    page('page of 20, depth 50,000', big, `limit=20&cursor=${await cursorAt(server, inBig / 2)}`),
    page('page of 20, depth 99,000', big, `limit=20&cursor=${await cursorAt(server, inBig - 1_000)}`),
  ];
}

export const bearer = (organization: number) => ({ authorization: `Bearer ${secretOf(organization)}` });

async function ask(server: Server, organization: number, { path, method, headers, body }: Request): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method: method ?? 'GET',
    headers: { ...(headers as Record<string, string>), ...bearer(organization) },
    ...(body !== undefined && { body: String(body) }),
  });
  const text = await response.text();
  assert(response.ok, `${server.name} answers ${response.status} to ${method ?? 'GET'} ${path}: ${text}`);
  return JSON.parse(text);
}

const cursors = new Map<string, string>();

/** Pages down to there as any client would; once per server. */
async function cursorAt(server: Server, depth: number): Promise<string> {
  let cursor = '';
  for (let at = 0; at < depth; at += 100) {
    const key = `${server.name} ${at}`;
    const known = cursors.get(key);
    const path = `/v1/projects?limit=100${cursor && `&cursor=${cursor}`}`;
    const next = known ?? ((await ask(server, big, { path })) as { nextCursor: string }).nextCursor;
    cursors.set(key, next);
    cursor = next;
  }
  return cursor;
}

/** Asks each server once and holds the answers against each other; what each makes up for itself is left out. */
export async function assertSame(servers: Server[], cases: Case[][]): Promise<void> {
  for (const [n, { name }] of cases[0]!.entries()) {
    const answers = await Promise.all(
      servers.map(async (server, place) => {
        const { organization, requests, writes } = cases[place]![n]!;
        const request = writes ? { ...requests[0], body: newBody } : requests[0]!;
        return withoutOwn(await ask(server, organization, request), writes ?? false);
      }),
    );
    for (const [place, answer] of answers.entries()) {
      assert.deepEqual(
        answer,
        answers[0],
        `${name}: ${servers[place]!.name} and ${servers[0]!.name} answer differently`,
      );
    }
  }
}

const newBody = JSON.stringify({ name: 'The same', repoFullName: 'acme/the-same' });

function withoutOwn(value: unknown, written: boolean): unknown {
  const own = ['nextCursor', 'extensions', ...(written ? ['id', 'orgId', 'createdAt'] : [])];
  return JSON.parse(
    JSON.stringify(value, (key, member) => {
      if (written && key.endsWith('ConnectorId')) return typeof member;
      return own.includes(key) && member !== null ? undefined : member;
    }),
  );
}
