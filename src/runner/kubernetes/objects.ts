// The objects of missions in a cluster. Their names are derived from the lease, so that every request can be repeated.
import { createHash } from 'node:crypto';
import { type PodPurpose, podSpecOf } from './pod-spec.ts';
import type { ClusterSettings } from './settings.ts';

/** Labels of the Jobs, claims, pods and templates that the runner creates for missions. */
export const missionLabel = { 'app.kubernetes.io/name': 'agent-mission' };
export const missionSelector = 'app.kubernetes.io/name=agent-mission';
/**
 * Names of the annotations that store the ids of a mission's run, lease and claim in a Kubernetes object. A runner that did not claim the
 * mission needs these ids to continue it.
 */
export const annotations = {
  run: 'agent-runner/run',
  lease: 'agent-runner/lease',
  claim: 'agent-runner/claim',
} as const;

export interface Metadata {
  name: string;
  uid?: string;
  resourceVersion?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  deletionTimestamp?: string;
  creationTimestamp?: string;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata & { namespace?: string };
}

export interface Job extends KubernetesObject {
  spec: object;
  status?: { conditions?: Condition[] };
}

export interface MissionPurpose extends PodPurpose {
  name: string;
  annotations: Record<string, string>;
  maxSeconds: number;
}

/** Names of objects have at most 63 characters, without underscores. */
export const jobName = (leaseId: string): string =>
  `mission-${createHash('sha256').update(leaseId).digest('hex').slice(0, 24)}`;

export function jobOf(cluster: ClusterSettings, purpose: MissionPurpose): Job {
  const { name, annotations: named } = purpose;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: missionLabel, annotations: named },
    spec: {
      // A mission that is lost is claimed again, from its checkpoint; its pod is never started twice.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: purpose.maxSeconds,
      ttlSecondsAfterFinished: cluster.keepSeconds,
      template: { metadata: { labels: missionLabel, annotations: named }, spec: podSpecOf(cluster, purpose) },
    },
  };
}
