// A warm pod asks the relay for a mission until it gets one (docs/decisions/0084-warm-pods-ask-for-their-mission.md).
import { setTimeout as wait } from 'node:timers/promises';
import type { AskingPod } from './hand-over.ts';

/** Time limit of one request. The relay answers earlier. */
const requestMs = 60_000;
/** Pause after a request that was not answered. */
const pauseMs = 1_000;

/** Resolves with the variables of the mission; null when `stopping` aborts. @throws when the pod gets no mission */
export async function awaitMission(
  relayUrl: string,
  token: string,
  pod: AskingPod,
  stopping: AbortSignal,
): Promise<Record<string, string> | null> {
  const request = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(pod) };
  while (!stopping.aborted) {
    // Without the listener, Node 20 would collect the limit as garbage: `AbortSignal.any` refers to its sources weakly.
    const limit = AbortSignal.timeout(requestMs);
    limit.addEventListener('abort', () => {});
    const signal = AbortSignal.any([stopping, limit]);
    const answer = await fetch(`${relayUrl}/pod`, { ...request, signal }).catch(() => null);
    const variables = answer?.status === 200 ? await answer.json().catch(() => null) : null;
    if (variables) return variables;
    if (answer && [401, 410].includes(answer.status))
      throw new Error(`the relay has no mission for this pod: ${answer.status}`);
    if (answer?.status !== 204) await wait(pauseMs, undefined, { signal: stopping }).catch(() => {});
  }
  return null;
}
