// A node of the stand-in cluster as one process: each of its pods is a scripted runner, which speaks the protocol of a runner in a pod to the relay
// (ask for the mission, claim, sandbox, heartbeats, end of step and run) and does no work but wait. Killing the process loses all of its pods.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

const { HEARTBEAT_MS = '1000' } = process.env;
/** Controllers by the uid of pods. */
const pods = new Map();
let texts = {};

/** A request that the platform or the relay refuses for good. */
class Refused extends Error {}

/** Time without an answer after which a request is repeated. The relay answers a waiting pod earlier. */
const requestMs = 30_000;

/** Sends a request once. `fetch` would not notice that the first connection of this process is closed (src/runner/network/fetch-parser.ts). */
const send = (address, headers, body, signal) =>
  new Promise((resolve, reject) => {
    const sent = request(address, { method: 'POST', headers, signal, timeout: requestMs }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode, text: answer }), reject);
    });
    sent.once('timeout', () => sent.destroy()).once('error', reject);
    sent.end(JSON.stringify(body));
  });

async function post(address, token, body, signal) {
  for (let pause = 100; ; pause = Math.min(2 * pause, 2_000)) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await send(address, headers, body, signal).catch(() => null);
    if (answer && answer.status < 500)
      return { status: answer.status, body: answer.text ? JSON.parse(answer.text) : null };
    await wait(pause, undefined, { signal });
  }
}

/** Variables of the mission, which a pod that has started before it gets from the relay. */
async function variablesOf({ name, uid, env }, signal) {
  if (!env.WAITING) return env;
  const { relayUrl } = JSON.parse(env.WAITING);
  for (;;) {
    const { status, body } = await post(`${relayUrl}/pod`, env.POD_TOKEN, { name, uid }, signal);
    if (status === 200) return { ...env, ...body };
    if (status !== 204) throw new Refused(`no mission: ${status}`);
  }
}

async function carryOut(pod, signal) {
  const { MISSION, MISSION_TOKEN } = await variablesOf(pod, signal);
  const { relayUrl, claim } = JSON.parse(MISSION);
  const ask = async (operation, input) => {
    for (;;) {
      const sent = { query: texts[operation], variables: { input } };
      const { body } = await post(`${relayUrl}/platform/graphql`, MISSION_TOKEN, sent, signal);
      const problem = body.errors?.[0]?.extensions?.problem ?? (body.data ? null : body);
      if (!problem) return body.data.answer;
      if (!problem.retryable) throw new Refused(`${operation}: ${JSON.stringify(body)}`);
      await wait(200, undefined, { signal });
    }
  };
  const run = await ask('claimRun', claim);
  if (!run) return;
  const lease = { runId: run.runId, leaseId: run.leaseId };
  for (let step = run.step; step; ) {
    const box = { key: `${pod.uid}-${step.stepId}`, role: step.agent.role, harness: step.agent.harness };
    const { sandboxId } = await ask('registerSandbox', {
      ...lease,
      ...box,
      instanceType: step.environment.instanceType,
    });
    const held = { runs: [lease], sandboxes: [{ sandboxId, leaseId: run.leaseId }] };
    for (const until = Date.now() + Number(/\d+/.exec(step.prompt)?.[0] ?? 0); ; ) {
      const { runs } = await ask('heartbeat', held);
      if (runs.some(({ desired }) => desired === 'stop')) return;
      const left = until - Date.now();
      if (left <= 0) break;
      await wait(Math.min(left, Number(HEARTBEAT_MS)), undefined, { signal });
    }
    await ask('finishSandbox', {
      sandboxId,
      leaseId: run.leaseId,
      status: 'completed',
      terminationReason: 'completed',
    });
    const next = await ask('finishStep', { ...lease, stepId: step.stepId, status: 'completed' });
    if (next.outcome === 'done') await ask('finishRun', { ...lease, status: 'completed' });
    step = next.outcome === 'done' ? null : next.step;
  }
}

async function start(pod) {
  const ending = new AbortController();
  pods.set(pod.uid, ending);
  let failure = '';
  try {
    if (!pod.env.PREFLIGHT) await carryOut(pod, ending.signal);
  } catch (error) {
    if (ending.signal.aborted) return;
    failure = error.message;
  }
  pods.delete(pod.uid);
  process.send({ uid: pod.uid, failure });
}

process.on('message', (message) => {
  if (message.texts) texts = message.texts;
  else if (message.start) void start(message.start);
  else pods.get(message.end)?.abort();
});
process.on('disconnect', () => process.exit());
