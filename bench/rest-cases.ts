// The REST cases.
import type { Request } from 'autocannon';
import { type Case, type Comparison, json, projectsOfOrdinary, type Servers } from './cases.ts';
import { big, creating, inBig, ordinary } from './database.ts';
import type { Server } from './process.ts';
import { ask } from './same-answers.ts';

let created = 0;
function newProject(): Request {
  const n = ++created;
  return { body: JSON.stringify({ name: `Creation ${n}`, repoFullName: `acme/creation-${n}` }) };
}

const withRest = ({ bare, fastify, prepared, service }: Servers): Server[] => [bare, fastify, prepared, service];

/** Comparisons in which each server does the same. */
const ofEach =
  (servers: Servers) =>
  (name: string, one: (server: Server, place: number) => Omit<Case, 'name'>): Comparison => ({
    name,
    contenders: withRest(servers).map((server, place) => ({ name: server.name, server, ...one(server, place) })),
  });

export function restComparisons(servers: Servers): Comparison[] {
  const compared = ofEach(servers);
  const page = (name: string, organization: number, search: string): Comparison =>
    compared(name, () => ({ organization, requests: [{ path: `/v1/projects?${search}` }] }));
  const creation = { method: 'POST', path: '/v1/projects', headers: json } as const;
  return [
    compared('one project', () => ({
      organization: ordinary,
      requests: projectsOfOrdinary.map((id) => ({ path: `/v1/projects/${id}` })),
    })),
    page('page of 20', ordinary, 'limit=20'),
    page('page of 100', ordinary, 'limit=100'),
    compared('create a project', (_, place) => ({
      organization: creating(place),
      requests: [{ ...creation, setupRequest: (request) => ({ ...request, ...newProject() }) }],
      writes: true,
    })),
    page('page of 20, depth 0', big, 'limit=20'),
  ];
}

/** Pages far from the beginning of a list. Each server first reads the list up to there. */
export async function deepComparisons(servers: Servers): Promise<Comparison[]> {
  const cursors = await Promise.all(withRest(servers).map(async (one) => new Map(await cursorsOf(one))));
  const deep = (name: string, depth: number): Comparison =>
    ofEach(servers)(name, (_, place) => ({
      organization: big,
      requests: [{ path: `/v1/projects?limit=20&cursor=${cursors[place]!.get(depth)}` }],
    }));
  return [deep('page of 20, depth 50,000', depths[0]), deep('page of 20, depth 99,000', depths[1])];
}

const depths = [inBig / 2, inBig - 1_000] as const;

/** Reads the list of projects page by page, as any client does, and keeps the cursor at each of the `depths`. Each server has its own cursors. */
async function cursorsOf(server: Server): Promise<[depth: number, cursor: string][]> {
  const found: [number, string][] = [];
  let cursor = '';
  for (let at = 100; at <= depths[1]; at += 100) {
    const path = `/v1/projects?limit=100${cursor && `&cursor=${cursor}`}`;
    cursor = ((await ask(server, big, { path })) as { nextCursor: string }).nextCursor;
    if (depths.includes(at)) found.push([at, cursor]);
  }
  return found;
}
