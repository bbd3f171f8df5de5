// Describes the objects that replace Jobs if the cluster serves the kinds of agent-sandbox (kubernetes-sigs/agent-sandbox, v1beta1). A
// SandboxTemplate describes the pod for all missions that need the same image and the same pod size. A SandboxWarmPool starts such pods
// before there are missions for them. A SandboxClaim takes a pod for one mission.
import { createHash } from 'node:crypto';
import type { Kind } from './informer.ts';
import { annotations, type Condition, type KubernetesObject, missionLabel } from './objects.ts';
import { type PodMission, type PodPurpose, podSpecOf } from './pod-spec.ts';
import type { ClusterSettings } from './settings.ts';
import type { MissionTokens } from './tokens.ts';

const apiVersion = 'extensions.agents.x-k8s.io/v1beta1';
export const claimKind: Kind = { apiVersion, kind: 'SandboxClaim', plural: 'sandboxclaims' };
export const poolKind: Kind = { apiVersion, kind: 'SandboxWarmPool', plural: 'sandboxwarmpools' };
export const templateKind: Kind = { apiVersion, kind: 'SandboxTemplate', plural: 'sandboxtemplates' };

/**
 * Annotations. On templates and pools: the time of the last mission in milliseconds. On claims: the mission of the pod, and the uid of the
 * pod that has received it.
 */
export const sandboxAnnotations = {
  used: 'agent-runner/used',
  mission: 'agent-runner/mission',
  pod: 'agent-runner/pod',
} as const;

export interface SandboxTemplate extends KubernetesObject {
  spec: object;
}

export interface SandboxWarmPool extends KubernetesObject {
  spec: { replicas: number; sandboxTemplateRef: { name: string } };
}

export interface SandboxClaim extends KubernetesObject {
  spec: {
    warmPoolRef: { name: string };
    lifecycle: { shutdownTime: string; shutdownPolicy: 'Delete'; ttlSecondsAfterFinished: number };
    additionalPodMetadata: { annotations: Record<string, string> };
  };
  status?: { conditions?: Condition[]; sandbox?: { name?: string } };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

/** The name that a template and its pool share. The name is derived from the token that all pods of the template have. */
export const poolNameOf = (podToken: string): string => `mission-${digestOf(podToken)}`;

/**
 * Returns the template for pods with this purpose. Missions share warm pods only if their templates are the same: a template with different
 * content gets a different name and a different token.
 */
export function templateOf(cluster: ClusterSettings, tokens: MissionTokens, purpose: PodPurpose): SandboxTemplate {
  const podToken = tokens.signPods(digestOf(JSON.stringify(podSpecOf(cluster, purpose))));
  const env = { ...purpose.env, POD_TOKEN: podToken };
  return {
    apiVersion,
    kind: templateKind.kind,
    metadata: { name: poolNameOf(podToken), labels: missionLabel },
    spec: {
      podTemplate: { metadata: { labels: missionLabel }, spec: podSpecOf(cluster, { ...purpose, env }) },
      // If several network policies select a pod, the pod may do what any of them allows, and the controller's own policy would allow the
      // whole internet. The policy for missions selects the pods of this template by their label.
      networkPolicyManagement: 'Unmanaged',
      envVarsInjectionPolicy: 'Disallowed',
      service: false,
    },
  };
}

export const poolOf = (name: string, replicas: number): SandboxWarmPool => ({
  apiVersion,
  kind: poolKind.kind,
  metadata: { name, labels: missionLabel },
  spec: { replicas, sandboxTemplateRef: { name } },
});

export interface ClaimPurpose {
  name: string;
  pool: string;
  annotations: Record<string, string>;
  mission: PodMission | null;
  /** Latest time at which the pod is removed, epoch milliseconds. */
  shutdownAt: number;
}

export function claimOf(cluster: ClusterSettings, purpose: ClaimPurpose): SandboxClaim {
  const { name, pool, annotations: named, mission, shutdownAt } = purpose;
  const run = named[annotations.run];
  return {
    apiVersion,
    kind: claimKind.kind,
    metadata: {
      name,
      labels: missionLabel,
      annotations: { ...named, ...(mission && { [sandboxAnnotations.mission]: JSON.stringify(mission) }) },
    },
    spec: {
      warmPoolRef: { name: pool },
      lifecycle: {
        shutdownTime: new Date(shutdownAt).toISOString().replace(/\.\d+/, ''),
        shutdownPolicy: 'Delete',
        ttlSecondsAfterFinished: cluster.keepSeconds,
      },
      additionalPodMetadata: { annotations: run ? { [annotations.run]: run } : {} },
    },
  };
}

/** Values of `reason` in a condition `Ready` that mean a permanent failure. */
const refusals = ['InvalidMetadata', 'ReconcilerError', 'EnvVarsInjectionRejected', 'VolumeClaimTemplatesError'];

const readyOf = ({ status }: SandboxClaim): Condition | undefined =>
  status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value === 'False');

/** The reason why a claim has no working pod; empty when the claim states none. */
export function claimTroubleOf(claim: SandboxClaim): string {
  const { reason, message } = readyOf(claim) ?? {};
  return reason ? `${reason}${message ? ` (${message})` : ''}` : '';
}

/** The reason why the controller cannot create the pod of a claim; empty when it can. */
export const claimRefusalOf = (claim: SandboxClaim): string =>
  refusals.includes(readyOf(claim)?.reason ?? '') ? claimTroubleOf(claim) : '';
