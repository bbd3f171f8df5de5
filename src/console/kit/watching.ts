// Live view of a sandbox: its state, fragments and metrics as they arrive.

import { sandbox as oneSandbox, type SandboxQuery, sandboxLive } from '../generated/documents.ts';
import type { ProblemBody } from './client.ts';
import { useLive } from './live.ts';
import { useReading } from './reading.ts';

export type Detail = SandboxQuery['sandbox'];

/** Maximum number of fragments, and of metrics, that the page keeps: the newest ones. */
const kept = { fragments: 1_000, metrics: 600 };

export const isAlive = ({ sandbox: { status } }: { sandbox: Pick<Detail['sandbox'], 'status'> }): boolean =>
  status === 'running' || status === 'stale';

interface Watched {
  detail: Detail | null;
  problem: ProblemBody | null;
  read(): void;
  /** Called when a person has killed the sandbox on this page: marks the sandbox as killed without waiting for the next update. */
  end(): void;
}

/** Follows a sandbox; its metrics are read only if `charts` is set. */
export function useSandbox(sandboxId: string, charts: boolean): Watched {
  const { data, problem, read, change } = useReading(oneSandbox, { sandboxId, charts }, { alone: true });
  const detail = data?.sandbox ?? null;
  useLive({
    operation: sandboxLive,
    variables: { sandboxId, charts },
    take({ sandboxUpdated: { sandbox, fragments, metrics = [] } }, isFirst) {
      const { sessions, ...itself } = sandbox;
      change((before) => {
        const { liveFragments = [], metrics: measured = [] } = before?.sandbox ?? {};
        return {
          sandbox: {
            sandbox: itself,
            sessions,
            liveFragments: (isFirst ? fragments : [...liveFragments, ...fragments]).slice(-kept.fragments),
            metrics: (isFirst ? metrics : [...measured, ...metrics]).slice(-kept.metrics),
          },
        };
      });
      // When a sandbox ends, the service also ends the open steps of the plan. The plan is stored in the fragments, so the fragments are
      // read again.
      const hasPlan = detail?.liveFragments.some(({ kind }) => kind === 'plan');
      if (!isFirst && hasPlan && !isAlive({ sandbox: itself })) read();
    },
    poll: read,
    isOver: () => detail !== null && !isAlive(detail),
  });
  const end = () =>
    change((before) => {
      const ended = { ...before!.sandbox.sandbox, status: 'destroyed' as const, terminationReason: 'killed' };
      return { sandbox: { ...before!.sandbox, sandbox: ended } };
    });
  return { detail, problem, read, end };
}
