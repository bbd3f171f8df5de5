// Reports the progress of a run that a tool has started (MCP 2025-11-25, Utilities: Progress). The reports end when a runtime has claimed
// the run, and at the latest after `followMs`.
import type { ServerContext } from '@modelcontextprotocol/server';
import { seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { watch } from '#foundation/postgres/changes.ts';
import { withTimeLimit } from '#foundation/time-limit.ts';
import type { Calls, ToolRecord } from './call.ts';

/** How long a call follows the run that it has started: well below the timeout of clients (60 s). */
const followMs = seconds(30);

const followers = createCapacity({
  name: 'followed_runs',
  all: 500,
  perKey: 5,
  description: 'Too many runs are being followed.',
});

/**
 * Waits until a runtime has claimed the run, but at most `followMs`, and returns the run with its latest status. If the caller asks for no
 * progress, is not allowed to read runs, or already follows too many of them, returns `started` at once.
 */
export async function followStart(
  started: ToolRecord,
  calls: Calls,
  credentialId: string,
  { mcpReq }: Pick<ServerContext, 'mcpReq'>,
): Promise<ToolRecord> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || !calls.may('get_run')) return started;
  const hold = await followers.take(credentialId).catch(() => null);
  if (!hold) return started;
  const signal = withTimeLimit(mcpReq.signal, followMs);
  const runId: string = started.runId ?? started.id;
  let run: ToolRecord = {};
  let progress = 0;
  try {
    for await (const _ of watch([runId], signal)) {
      run = await calls.call('get_run', { runId });
      const { status } = run;
      const message = status === 'dispatching' ? `Waiting: ${run.reason ?? 'for a runtime.'}` : `The run is ${status}.`;
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: progress++, message },
      });
      if (status !== 'dispatching') break;
    }
  } finally {
    hold.release();
  }
  // If the result of the tool has no `runId`, the result is the run itself, as the tool read it before the wait. All fields of the result
  // are then replaced by those of the run that was read last during the wait. In a result with `runId`, only the status is replaced.
  return started.runId === undefined ? { ...started, ...run } : { ...started, status: run.status ?? started.status };
}
