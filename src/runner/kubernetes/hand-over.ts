// Hands a mission to a warm pod, that is, a pod that was started before there was a mission for it. The pod's runner asks the relay for a
// mission, and the relay finds the mission in the SandboxClaim of the pod. The token of the mission is in no object of the cluster. A
// mission is handed over only once: the claim records the uid of the pod, so a pod that replaces this pod gets nothing.
import { type Api, ApiRefusal } from './api.ts';
import { identityOf, podVariables } from './cluster.ts';
import { graceMs } from './pod-spec.ts';
import { claimKind, poolNameOf, type SandboxClaim, sandboxAnnotations } from './sandboxes.ts';
import type { MissionTokens } from './tokens.ts';
import type { Workloads } from './workloads.ts';

/** A pod that asks for its mission. */
export interface AskingPod {
  name: string;
  uid: string;
}

/** Variables of the mission, or the status of the refusal; 204 while there is no mission. */
export type HandOver = (
  podToken: string,
  pod: AskingPod,
  gone: AbortSignal,
) => Promise<Record<string, string> | number>;

/** Time for which the relay holds the request of a waiting pod. */
const holdMs = 20_000;

export function openHandOver(api: Api, workloads: Workloads, tokens: MissionTokens, relayUrl: string): HandOver {
  /** Records the uid of the pod in its claim. Returns false if the claim has changed since it was read. */
  async function bind({ metadata: { name, resourceVersion } }: SandboxClaim, uid: string): Promise<boolean> {
    const { apiVersion, kind } = claimKind;
    const annotations = { [sandboxAnnotations.pod]: uid };
    return api.merge({ apiVersion, kind, metadata: { name, resourceVersion, annotations } }).then(
      () => true,
      (error) => {
        if (error instanceof ApiRefusal && !error.isTemporary && error.status !== 404) throw error;
        return false;
      },
    );
  }

  function variablesOf(claim: SandboxClaim): Record<string, string> | null {
    const identity = identityOf(claim);
    const mission = claim.metadata.annotations?.[sandboxAnnotations.mission];
    if (!identity || !mission) return null;
    const token = tokens.sign(identity, Date.parse(claim.spec.lifecycle.shutdownTime) + graceMs);
    return { ...podVariables(relayUrl, token), MISSION: mission };
  }

  return async (podToken, { name, uid }, gone) => {
    if (!tokens.isOfPods(podToken)) return 401;
    const pool = poolNameOf(podToken);
    for (const until = Date.now() + holdMs; Date.now() < until && !gone.aborted; await workloads.next(1_000)) {
      const claim = workloads
        .claims()
        .find(({ spec, status }) => status?.sandbox?.name === name && spec.warmPoolRef.name === pool);
      if (!claim || !workloads.hasPod(name, uid)) continue;
      const bound = claim.metadata.annotations?.[sandboxAnnotations.pod];
      if (bound ? bound !== uid : !(await bind(claim, uid))) {
        if (bound) return 410;
        continue;
      }
      const variables = variablesOf(claim);
      if (variables) return variables;
    }
    return 204;
  };
}
