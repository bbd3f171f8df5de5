// Progress of a run that a tool has started (MCP 2025-11-25, Utilities: Progress): until a runtime has taken the run, or for a
// bounded time.

import type { ServerContext } from '@modelcontextprotocol/server';
import { seconds } from '#foundation/clock.ts';
import { createCapacity } from '#foundation/http/capacity.ts';
import { watch } from '#foundation/postgres/changes.ts';
import type { Calls, ToolRecord } from './call.ts';

/** How long a call follows a run that it has started: well below the timeout of clients (60 s). */
const followMs = seconds(30);

const followers = createCapacity({ all: 500, perKey: 5, description: 'Too many runs are followed.' });

/**
 * Returns the started run with the status that it has by then. Whoever may not read runs, or follows too many at once, gets it as
 * it is.
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
  const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(followMs)]);
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
  // A tool that answers the run itself answers it as it is by then.
  return started.runId === undefined ? { ...started, ...run } : { ...started, status: run.status ?? started.status };
}
