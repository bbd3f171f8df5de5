// State of a mission, read from its Job or SandboxClaim and from its pod.
import type { Condition, Job, KubernetesObject } from './objects.ts';
import type { SandboxClaim } from './sandboxes.ts';

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: object;
  terminated?: { reason?: string; exitCode: number; message?: string };
}

export interface Pod extends KubernetesObject {
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: { name: string; state?: ContainerState }[];
    containerStatuses?: { name: string; state?: ContainerState }[];
  };
}

export const jobLabel = 'batch.kubernetes.io/job-name';

export type Workload = Job | SandboxClaim;

const conditionOf = ({ status }: Workload, type: string): Condition | undefined =>
  status?.conditions?.find((one) => one.type === type && one.status === 'True');

/** The outcome of a Job or claim; null while it has not ended. */
export function endOf(one: Workload): 'complete' | 'failed' | null {
  const finished = conditionOf(one, 'Finished');
  if (conditionOf(one, 'Complete') || finished?.reason === 'PodSucceeded') return 'complete';
  return finished || conditionOf(one, 'Failed') ? 'failed' : null;
}

const statusesOf = ({ status }: Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

const runnerOf = (pod: Pod | undefined): ContainerState | undefined =>
  pod?.status?.containerStatuses?.find(({ name }) => name === 'runner')?.state;

/** Whether the runner in the pod has begun to work. From then on, it renews the lease itself. */
export function isStarted(pod: Pod | undefined): boolean {
  const { running, terminated } = runnerOf(pod) ?? {};
  return Boolean(running ?? terminated);
}

/** Whether the runner in the pod works at present. */
export const isWorking = (pod: Pod | undefined): boolean => runnerOf(pod)?.running !== undefined;

const withMessage = (reason: string, message: string | undefined): string =>
  message ? `${reason} (${message})` : reason;

/** The reason why a pod does not start or has failed; empty when the pod states none. */
export function troubleOf(pod: Pod | undefined): string {
  if (!pod) return '';
  const { status } = pod;
  for (const { name, state } of statusesOf(pod)) {
    const { waiting, terminated } = state ?? {};
    const isUsual = ['ContainerCreating', 'PodInitializing'].includes(waiting?.reason ?? '');
    if (waiting?.reason && !isUsual) return `the container ${name}: ${withMessage(waiting.reason, waiting.message)}`;
    if (terminated && terminated.exitCode !== 0)
      return `the container ${name} has ended: ${withMessage(terminated.reason ?? `exit code ${terminated.exitCode}`, terminated.message)}`;
  }
  if (status?.reason) return withMessage(status.reason, status.message);
  const scheduled = status?.conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False');
  return scheduled ? withMessage(scheduled.reason ?? 'it is not scheduled', scheduled.message) : '';
}

/** The reason why a Job or claim has ended early. */
export const failureOf = (one: Workload): string => {
  const failed = conditionOf(one, 'Failed') ?? conditionOf(one, 'Finished');
  return failed ? withMessage(failed.reason ?? 'it has failed', failed.message) : '';
};
