// Makes calls during the soak, each kind in a separate loop. A call is repeated until it gets a response; a call that writes has an
// idempotency key. Every unexpected response is recorded.
import { setTimeout as wait } from 'node:timers/promises';
import { minutes, seconds } from '#foundation/clock.ts';
import { eventsOf } from '../../test/support/server-sent-events.ts';
import { type Platform, projects, shellAgent } from './platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
type Json = any;

interface Call {
  body?: object;
  /** The key of a write; a read can be repeated without one. */
  key?: string;
}

interface Tally {
  answered: number;
  /** Responses after which the call is repeated: 503, and 409 while the first call with the key still runs. */
  refused: number;
  /** Number of lost connections and missing responses. */
  unanswered: number;
  times: number[];
}

/** The records for which the service acknowledged the creation. Each of them must exist exactly once at the end of the soak. */
export interface Acknowledged {
  projects: Set<string>;
  runs: Set<string>;
  /** Ids of scheduled tasks with the time at which each was due. */
  tasks: Map<string, number>;
}

export interface Load {
  tallies: ReadonlyMap<string, Tally>;
  acknowledged: Acknowledged;
  /** Unexpected responses, in words. */
  unexpected: string[];
  stop(): Promise<void>;
}

const scripts = [
  'echo done',
  'exit 3',
  'sleep 1; echo slept',
  'echo "::plan Begin | End"; echo "::progress 50 half"; sleep 2; echo "::step End"',
  'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "line $i"; done',
  'echo result > "$ARTIFACTS/result.txt"',
  'sleep 300',
];
/** Index of the script whose missions are canceled. */
const toCancel = scripts.length - 1;

/**
 * @param missions Number of missions that are open at a time
 * @param pauses Factor by which the length of each pause between two calls is multiplied
 */
export function startLoad({ url, token }: Platform, { missions, pauses }: { missions: number; pauses: number }): Load {
  const tallies = new Map<string, Tally>();
  const acknowledged: Acknowledged = { projects: new Set(), runs: new Set(), tasks: new Map() };
  const unexpected: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => wait(ms * pauses, undefined, { signal }).catch(() => {});
  const authorization = `Bearer ${token}`;
  let count = 0;

  /** The response; null if the soak ends before there is one. */
  async function call(name: string, method: string, path: string, { body, key }: Call = {}): Promise<Json | null> {
    const tally = tallies.get(name) ?? { answered: 0, refused: 0, unanswered: 0, times: [] };
    tallies.set(name, tally);
    const headers = {
      authorization,
      'content-type': 'application/json',
      ...(key && { 'idempotency-key': key }),
    };
    // A call with a key is repeated after the end of the soak too, so that its outcome is known.
    for (let tries = 0; key ? tries < 600 : !signal.aborted; tries++) {
      const begun = performance.now();
      const answer = await fetch(url + path, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.timeout(minutes(1)),
      })
        .then(async (response) => ({ response, text: await response.text() }))
        .catch(() => null);
      if (!answer) {
        tally.unanswered++;
        await wait(100);
        continue;
      }
      const { response, text } = answer;
      const json: Json = text ? JSON.parse(text) : null;
      const problem = json?.errors?.[0]?.extensions?.problem ?? (response.ok ? null : json);
      if (problem?.retryable || (key && problem?.code === 'conflict')) {
        tally.refused++;
        await wait(1_000 * Math.min(1, Number(response.headers.get('retry-after') ?? 1)));
        continue;
      }
      if (problem) {
        unexpected.push(`${new Date().toISOString()} ${name}: ${response.status} ${text.slice(0, 300)}`);
        return null;
      }
      tally.answered++;
      tally.times.push(performance.now() - begun);
      return json;
    }
    if (key) unexpected.push(`${name}: no answer after 600 tries`);
    return null;
  }

  const graph = async (name: string, query: string, variables: object, key?: string): Promise<Json | null> =>
    Object.values(
      (await call(name, 'POST', '/graphql', { body: { query, variables }, ...(key && { key }) }))?.data ?? [null],
    )[0];

  async function read(): Promise<void> {
    const id = projects[count++ % projects.length]!;
    await call('one project', 'GET', `/v1/projects/${id}`);
    await call('page of projects', 'GET', '/v1/projects?limit=50');
    await call('page of runs', 'GET', `/v1/runs?limit=50&projectId=${id}`);
    await graph(
      'runs with sandboxes',
      `query ($id: String!) { runs(projectId: $id, limit: 20) { data { id status sandboxes { sandboxId status } project { name } } } }`,
      { id },
    );
    await pause(20);
  }

  async function write(): Promise<void> {
    const name = `soak-${++count}`;
    const made = await call('create a project', 'POST', '/v1/projects', {
      body: { name, repoFullName: `soak/${name}` },
      key: name,
    });
    if (!made) return;
    acknowledged.projects.add(made.id);
    const found = await call('read what was written', 'GET', `/v1/projects/${made.id}`);
    if (found && found.name !== name) unexpected.push(`${made.id} is ${found.name}, and not ${name}`);
    await pause(100);
  }

  async function run(): Promise<void> {
    const n = count++;
    const script = n % scripts.length;
    const started = await graph(
      'start a mission',
      `mutation ($projectId: String!, $prompt: String!, $agentId: String!) {
        startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId) { id } }`,
      { projectId: projects[n % projects.length], prompt: scripts[script], agentId: shellAgent },
      `mission-${n}`,
    );
    if (!started) return;
    acknowledged.runs.add(started.id);
    const seen = follow(started.id);
    if (script === toCancel) {
      await pause(seconds(3));
      await graph(
        'cancel a mission',
        'mutation ($runId: String!) { cancelRun(runId: $runId) { id } }',
        { runId: started.id },
        `cancel-${n}`,
      );
    }
    await seen;
  }

  /** Watches a run until it has ended, with a new stream when one breaks off. */
  async function follow(runId: string): Promise<void> {
    const query = 'subscription ($runId: String!) { runUpdated(runId: $runId) { status } }';
    const headers = { authorization, accept: 'text/event-stream', 'content-type': 'application/json' };
    const body = JSON.stringify({ query, variables: { runId } });
    while (!signal.aborted) {
      try {
        const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body, signal });
        for await (const { name, data } of eventsOf(response)) {
          const status = data?.data?.runUpdated?.status;
          if (name === 'next' && ['completed', 'failed', 'canceled'].includes(status)) return;
        }
      } catch {
        // The stream was interrupted, so another one is opened.
      }
      await pause(500);
    }
  }

  async function schedule(): Promise<void> {
    const due = Math.ceil((Date.now() + seconds(5)) / minutes(1)) * minutes(1);
    const time = new Date(due).toISOString().slice(11, 16);
    const name = `task-${++count}`;
    const made = await call('schedule a task', 'POST', '/v1/scheduled-tasks', {
      body: {
        projectId: projects[count % projects.length],
        name,
        prompt: 'echo scheduled',
        triggers: [{ kind: 'schedule', schedule: { interval: 'daily', time, timezone: 'UTC' } }],
      },
      key: name,
    });
    if (made) acknowledged.tasks.set(made.id, made.nextRunAt);
    await pause(seconds(5));
  }

  const loop = async (work: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) await work();
  };
  const work = Promise.all(
    [read, read, write, write, schedule, ...Array.from({ length: missions }, () => run)].map(loop),
  );
  return {
    tallies,
    acknowledged,
    unexpected,
    async stop() {
      stopping.abort();
      await work;
    },
  };
}
