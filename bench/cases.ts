// The cases of the bench: several servers do the same work one after the other, or one service does it in several ways.
import type { Request } from 'autocannon';
import { idOf, ordinary, secretOf } from './database.ts';
import type { Server } from './process.ts';

export interface Case {
  name: string;
  /** The organization that the requests are about. */
  organization: number;
  requests: Request[];
  /** Number of requests in one piece of work, if it takes several. */
  together?: number;
  /** Whether the records of the organization must be deleted after each turn. */
  writes?: true;
  /** Picks the part of a response that must be the same for all servers of a comparison. If absent, the whole response must be the same. */
  sameOf?(answer: never): unknown;
}

/** A server that does the work. */
export interface Contender extends Case {
  server: Server;
}

export interface Comparison {
  name: string;
  /** The last server is compared with each of the other servers. */
  contenders: Contender[];
}

/** All measured servers; the service is last. */
export interface Servers {
  bare: Server;
  fastify: Server;
  prepared: Server;
  yoga: Server;
  mercurius: Server;
  service: Server;
}

const inOrdinary = Array.from({ length: 100 }, (_, n) => ordinary - 1 + n * 1_000);
export const projectsOfOrdinary = inOrdinary.map((n) => idOf('prj', n));
export const runsOfOrdinary = inOrdinary.map((n) => idOf('run', n));

export const json = { 'content-type': 'application/json' };
export const bearer = (organization: number) => ({ authorization: `Bearer ${secretOf(organization)}` });
