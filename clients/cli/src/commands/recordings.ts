// Recordings of missions: download, and forks from one of their calls.
import { pipeline } from 'node:stream/promises';
import { plain, printJson, printLine } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { download, save } from './artifacts.ts';
import { followUnlessDetached, readPrompt } from './runs.ts';

export async function get(options: CommonOptions & { output?: string }, runId: string): Promise<void> {
  const recording = await (await openClient(options.url)).recording({ runId });
  if (options.json) return printJson(recording);
  const content = await download(recording.url);
  if (options.output && options.output !== '-') return save(content, options.output);
  await pipeline(content, process.stdout, { end: false });
}

interface ForkOptions extends CommonOptions {
  message?: string;
  model?: string;
  agentVersion?: number;
  budget?: number;
  detach?: true;
}

/** Starts a mission from a recorded call, which is named like `stp_…/4`. Without a call, lists the recorded calls. */
export async function fork(options: ForkOptions, runId: string, at?: string): Promise<void> {
  const client = await openClient(options.url);
  if (at === undefined) return listCalls(client, options, runId);
  const [, stepId, call] = /^(.+)\/(\d+)$/.exec(at) ?? [];
  if (!stepId || !call)
    throw new UserError(`Name the call by its step and number, as in the list: stp_…/4, not ${at}.`);
  const { message, model, agentVersion, budget } = options;
  const run = await client.forkMission({
    ...{ runId, stepId, call: Number(call) },
    ...(message && { prompt: await readPrompt(message) }),
    ...(model && { model }),
    ...(agentVersion && { agentVersion }),
    ...(budget && { budgetUsd: budget }),
  });
  await followUnlessDetached(client, run.id, options);
}

async function listCalls(
  client: Awaited<ReturnType<typeof openClient>>,
  { json }: ForkOptions,
  runId: string,
): Promise<void> {
  for (let after = 0; ; ) {
    const { data, hasMore } = await client.recordedModelCalls({ runId, after });
    for (const call of data) {
      const { stepId, number, role, at, model, status } = call;
      if (json) printJson(call);
      else printLine(plain(`${stepId}/${number}  ${new Date(at).toISOString()}  ${role}  ${model ?? '-'}  ${status}`));
    }
    if (!hasMore) return;
    after += data.length;
  }
}
