// Makes an approved tool call for the run that staged it. A call has no idempotency key, so it is made at most once.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { conflict, toProblem } from '#foundation/problem.ts';
import type { EffectPayloads } from '../../projects/effects/model.ts';
import type { Run } from '../../work/runs/model.ts';
import { refuseObstacle, requestTool } from './gateway.ts';
import { McpBinding, toolsFor } from './model.ts';
import { sdk } from './sdk.ts';

/**
 * Makes the call and returns the texts of its result. @throws 409 when the tool is no longer approved, and when the call has failed or may
 * have failed
 */
export async function callApprovedTool(
  run: Run,
  { serverName, tool, arguments: given }: EffectPayloads['mcp_call'],
): Promise<string> {
  const binding = await McpBinding.find({ projectId: run.projectId, serverName, transport: 'remote' });
  if (!binding) throw conflict(`The project no longer has the MCP server ${serverName}.`);
  refuseObstacle(binding);
  const role = binding.roles.find((one) => toolsFor(binding, one).some(({ name }) => name === tool));
  if (!role)
    throw conflict(`The tool ${tool} of ${serverName} is no longer approved, or has changed since its approval.`);
  const result = await requestTool({ run, role, binding }, tool, given).catch(async (error) => {
    const { ProtocolError } = await sdk();
    if (error instanceof ProtocolError) throw conflict(`The MCP server refused the call: ${error.message}`);
    const { description } = toProblem(error).body;
    throw conflict(`${description} The tool may have run: check its effect before you approve the call again.`);
  });
  if (result.isError) throw conflict(`The tool returned an error: ${textOfResult(result).slice(0, 1_000)}`);
  return textOfResult(result);
}

const textOfResult = ({ content }: CallToolResult): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [`[${part.type}]`])).join('\n');
