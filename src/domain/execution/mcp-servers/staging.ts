// Staged tool calls, which need a person's approval. A call to a remote server is stored, and the agent continues without its result. A
// server in a sandbox stops when the step ends, so the agent waits for the decision, as it does for tools that always ask.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { transaction } from '#foundation/postgres/database.ts';
import { effectBounds } from '../../projects/effects/bounds.ts';
import { callWaits } from '../../projects/effects/policy.ts';
import { digestOf, stageEffect } from '../../projects/effects/staging.ts';
import { policyOfRun } from '../../work/runs/effect-policy.ts';
import { leaseIsLost, lockRun } from '../../work/runs/lock.ts';
import type { Run } from '../../work/runs/model.ts';
import { isOpen } from '../../work/runs/states.ts';
import type { McpBinding, ToolDefinition } from './model.ts';

interface Calling {
  run: Run;
  binding: McpBinding;
}

/**
 * Returns a function that decides whether calls of a tool are staged. The policy of the run decides. Calls are never staged if the tool is
 * attested as read-only, or if each call needs a person's decision anyway.
 */
async function readPolicy({ run, binding: { serverName, approvedTools } }: Calling) {
  const policy = await policyOfRun(run);
  return (tool: string): boolean => {
    const approved = approvedTools.find(({ name }) => name === tool);
    return (
      approved !== undefined && !approved.attestedReadOnly && !approved.alwaysAsk && callWaits(policy, serverName, tool)
    );
  };
}

export const callIsStaged = async (calling: Calling, tool: string): Promise<boolean> =>
  (await readPolicy(calling))(tool);

const note =
  'Calls of this tool wait for a person’s approval: the result says so, and the effect comes later or never.';

/** The tools as described to an agent: if the calls of a tool are staged, its description says so, and its output schema is omitted. */
export async function describeStaging(calling: Calling, tools: readonly ToolDefinition[]): Promise<ToolDefinition[]> {
  const isStaged = await readPolicy(calling);
  return tools.map((tool) => {
    if (!isStaged(tool.name)) return tool;
    const { outputSchema: _, ...others } = tool;
    return { ...others, description: [tool.description, note].filter(Boolean).join('\n\n') };
  });
}

const said = (text: string, isError = false): CallToolResult => ({ content: [{ type: 'text', text }], isError });

/** Stages the call. An identical call that is already staged is not staged again. @throws 409 above the maximum per run */
export async function stageCall(
  { run: { id }, binding: { serverName } }: Calling,
  tool: string,
  given: Record<string, unknown>,
): Promise<CallToolResult> {
  const payload = { serverName, tool, arguments: given };
  if (JSON.stringify(payload).length > effectBounds.payload)
    return said(
      `The arguments are too long for a call that waits for approval: at most ${effectBounds.payload} characters.`,
      true,
    );
  return transaction(async (trx) => {
    const run = await lockRun(trx, { id });
    if (!run || !isOpen(run)) throw leaseIsLost();
    const key = `${id} ${serverName}.${tool} ${digestOf(payload)}`;
    const effectId = await stageEffect(trx, run, { kind: 'mcp_call', key, payload });
    if (effectId === null) return said('A person has rejected this call.', true);
    return said(
      `The call of ${tool} is staged as ${effectId}: it has had no effect yet, and is made once a person approves it. Do not repeat it; go on ` +
        'without its result.',
    );
  });
}
