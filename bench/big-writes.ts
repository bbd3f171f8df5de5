// Writes to the big database (big-database.ts): starts and claims of missions by the running service, and two runs of each periodic job of the
// scheduler in this process.
import { strict as assert } from 'node:assert';
import { createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { openMail } from '#foundation/mail/mail.ts';
import { sql } from '#foundation/postgres/database.ts';
import { bindSlowStatements } from '#foundation/postgres/observed-statements.ts';
import { unrecorded } from '#foundation/postgres/origin.ts';
import { claimRun } from '../src/runner/generated/operations.ts';
import { jobs } from '../src/surfaces/scheduler/jobs.ts';
import { big, names } from './big-size.ts';
import { bearer, json } from './cases.ts';
import { at } from './measure.ts';
import type { Server } from './process.ts';

export interface Timed {
  name: string;
  /** Duration of each repetition in milliseconds, in ascending order. */
  times: number[];
}

/** Number of missions that are started, one after the other. */
const missions = 300;
/** Number of missions that a runtime executes at once. */
const places = 8;

async function timed(name: string, times: number, work: (n: number) => Promise<unknown>): Promise<Timed> {
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const begun = performance.now();
    await work(n);
    taken.push(performance.now() - begun);
  }
  return { name, times: taken.sort((a, b) => a - b) };
}

async function post(url: string, headers: Record<string, string>, body: unknown): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const text = await response.text();
  assert(response.ok && !text.includes('"errors"'), `${response.status}: ${text.slice(0, 500)}`);
  return text;
}

/** Starts missions by REST, and claims all but a third of them as runtimes do. */
export async function startAndClaim({ url }: Server): Promise<Timed[]> {
  const { token } = await createServiceToken({ name: 'bench' });
  const input = { harnesses: ['shell'], places, isolation: 'cell' };
  return [
    await timed('start of a mission', missions, () =>
      post(`${url}/v1/runs`, bearer(big), { projectId: names.project, prompt: 'true', agentId: names.agent }),
    ),
    await timed(`claim of one of ${missions} waiting missions`, (missions * 2) / 3, async (n) => {
      const variables = { input: { ...input, runtime: `bench-${Math.floor(n / places)}` } };
      const answer = await post(
        `${url}/graphql`,
        { authorization: `Bearer ${token}` },
        { query: claimRun.text, variables },
      );
      assert(answer.includes('leaseId'), answer);
    }),
  ];
}

// Runs that stopped sending heartbeats, waited for more than a day, or are due, so that the jobs find something to do.
const makeWorkSql = [
  `update runs set lease_until = 0 where id in (select id from runs where status = 'running' and lease_id like 'lse_%-%' order by id limit 50)`,
  `update runs set waiting_since = 1 where id in (select id from runs where status = 'dispatching' order by id limit 50)`,
  'update recurring_missions set next_run_at = 0, skip_if_previous_open = false',
];

/** Runs each job twice. The first run does what is due; the second one finds hardly anything. */
export async function runJobs(report: (line: string) => void): Promise<[Timed, Timed][]> {
  const issuer = 'http://127.0.0.1:1';
  bindAddresses({ baseHost: issuer, issuer, mcp: issuer, a2a: `${issuer}/a2a` });
  openOutbound({ allowLoopback: true });
  openMail({ from: 'bench@example.com', log: () => undefined });
  for (const text of makeWorkSql) await unrecorded(() => sql(text));
  let current = '';
  bindSlowStatements(50, ({ ms, statement }) => report(`${current}: ${ms} ms for ${statement.slice(0, 400)}`));
  const found: [Timed, Timed][] = [];
  for (const { name, run, stop } of jobs) {
    current = name;
    const first = await timed(name, 1, run);
    found.push([first, await timed(name, 1, run)]);
    await stop?.();
  }
  bindSlowStatements(Number.POSITIVE_INFINITY, () => undefined);
  return found;
}

export const p50 = ({ times }: Timed): string => at(times, 0.5).toFixed(2);
export const p99 = ({ times }: Timed): string => at(times, 0.99).toFixed(2);
