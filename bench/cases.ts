// What is asked, and of whom: each piece of work is done by several servers, or by the service in several ways, in turn.
import type { Request } from 'autocannon';
import { idOf, ordinary, secretOf } from './database.ts';
import type { Server } from './process.ts';

export interface Case {
  name: string;
  /** The organization that is asked about. */
  organization: number;
  requests: Request[];
  /** How many requests are one piece of work, where it takes several. */
  together?: number;
  /** Whether the organization has to be emptied after each turn. */
  writes?: true;
  /** What of an answer is the same for everyone who does this work; without it all of it. */
  sameOf?(answer: never): unknown;
}

/** One who does the work. */
export interface Contender extends Case {
  server: Server;
}

export interface Comparison {
  name: string;
  /** The last is held against each of the others. */
  contenders: Contender[];
}

/** Everyone who is measured. The service is last. */
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
