// Current tools of a remote server: read within limits, stored as a snapshot, and compared with the reviewed tools. The server's data is
// untrusted: it is checked before any of it is stored.
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Caller } from '#access/principal.ts';
import { now, seconds } from '#foundation/clock.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict } from '#foundation/problem.ts';
import { text } from '#limits.ts';
import { McpBinding, obstacleOf, type ToolDefinition } from './model.ts';
import { McpServerError, withRemote } from './remote.ts';
import { sdk } from './sdk.ts';
import { findOwnProject, markDrift, readConfigFile } from './view.ts';

/** Limits of a server's list of tools. */
const maxTools = 500;
const maxPages = 20;
const maxTitleChars = 200;
const maxDescriptionChars = 8_000;
const maxDefinitionBytes = 64 * 1024;
const listTimeoutMs = seconds(20);

/** JSON escapes of NUL and lone surrogates, which cannot be stored: jsonb has no NUL, and UTF-8 no lone surrogate. */
const unstorable = /\\u0000|\\ud[89a-f]/i;

const schema = z.record(z.string(), z.unknown()).refine(({ type }) => type === 'object', 'must be of the type object');
const definition = z
  .object({
    name: z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .min(text.mcpToolName.min)
      .max(text.mcpToolName.max),
    title: z.string().max(maxTitleChars).optional(),
    description: z.string().max(maxDescriptionChars).optional(),
    inputSchema: schema,
    outputSchema: schema.optional(),
    annotations: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((tool) => {
    const json = JSON.stringify(tool);
    return json.length <= maxDefinitionBytes && !unstorable.test(json);
  }, 'is too large, or contains characters that cannot be stored');

/** Reads all tools of a connected server. @throws McpServerError for too many tools, or for a tool that violates the protocol */
export async function listTools(client: Client, signal: AbortSignal): Promise<ToolDefinition[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const options = { signal, timeout: listTimeoutMs };
    const answer = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      options,
    );
    listed.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined || listed.length > maxTools) return readTools(listed);
  }
  throw new McpServerError(`The list of tools has more than ${maxPages} pages.`);
}

/** Validates definitions of tools. @throws McpServerError for too many tools, or for a tool that violates the protocol */
export function readTools(listed: readonly unknown[]): ToolDefinition[] {
  if (listed.length > maxTools) throw new McpServerError(`The server has more than ${maxTools} tools.`);
  const tools = new Map<string, ToolDefinition>();
  for (const rawTool of listed) {
    const tool = definition.safeParse(rawTool);
    if (!tool.success) throw new McpServerError(`The server returned an invalid definition of ${named(rawTool)}.`);
    if (tools.has(tool.data.name)) throw new McpServerError(`The server defines ${named(rawTool)} twice.`);
    tools.set(tool.data.name, tool.data);
  }
  return [...tools.values()];
}

function named(tool: unknown): string {
  const { name } = (tool ?? {}) as { name?: unknown };
  return typeof name === 'string' && /^[\w.:/-]{1,128}$/.test(name)
    ? `the tool ${name}`
    : 'a tool with an unusual name';
}

/**
 * Reads the config file again. If the server can be used, also reads the list of the server's tools. The status of the binding shows the
 * outcome. @throws 404; 409 for a server that is disabled or runs only in sandboxes
 */
export async function refreshTools(caller: Caller, projectId: string, serverName: string): Promise<McpBinding> {
  const project = await findOwnProject(caller, projectId);
  const { enabled, transport } = await McpBinding.get({ projectId, serverName });
  if (!enabled) throw conflict('The server is disabled: enable it to read its tools.');
  if (transport === 'sandbox')
    throw conflict('The server runs in the sandboxes of missions: its tools are read when the next mission starts it.');
  await releaseTransaction();
  await markDrift(projectId, await readConfigFile(project));
  return takeSnapshot(await McpBinding.get({ projectId, serverName }));
}

/** Whether a request is pointless, because the declaration has drifted, the server is disabled, or credentials are known to be missing. */
const isHopeless = (binding: McpBinding): boolean =>
  obstacleOf({ ...binding, needsAuthorization: false }) !== null || binding.pinnedUrl === null;

export async function takeSnapshot(binding: McpBinding): Promise<McpBinding> {
  if (isHopeless(binding)) return binding;
  try {
    const toolSnapshot = await withRemote(binding, listTimeoutMs, listTools);
    return await note(binding, { toolSnapshot, toolsRefreshedAt: now(), lastError: null, needsAuthorization: false });
  } catch (error) {
    return noteFailure(binding, error);
  }
}

/** Updates the binding after a request to its server has failed. @throws `error` itself, if the server did not cause it */
export async function noteFailure(binding: McpBinding, error: unknown): Promise<McpBinding> {
  const { ProtocolError } = await sdk();
  const failure = error instanceof ProtocolError ? new McpServerError('The server refused to list its tools.') : error;
  if (!(failure instanceof McpServerError)) throw error;
  if (failure.needsAuthorization) {
    const isOAuth = failure.wantsOAuth && binding.authKind === 'none';
    return note(binding, { needsAuthorization: true, lastError: null, ...(isOAuth && { authKind: 'oauth' }) });
  }
  return note(binding, { lastError: failure.message });
}

/** Records that the server failed in a sandbox, or was not started there. */
export const noteSandboxFailure = (binding: McpBinding, lastError: string): Promise<McpBinding> =>
  note(binding, { lastError });

/** Records the tools that a runtime read from a server in a sandbox. The first recorded checksum of the package is kept. */
export const noteSandboxTools = (
  binding: McpBinding,
  toolSnapshot: ToolDefinition[],
  packageIntegrity: string | null,
): Promise<McpBinding> => note(binding, { toolSnapshot, packageIntegrity, toolsRefreshedAt: now(), lastError: null });

/** Changes the binding if it still refers to the same server; otherwise returns it unchanged. */
async function note(binding: McpBinding, patch: Partial<McpBinding>): Promise<McpBinding> {
  const { id, projectId, serverName, pinnedUrl, declaredDigest } = binding;
  await McpBinding.patch(undefined, { id, pinnedUrl, declaredDigest }, { ...patch, updatedAt: now() });
  return McpBinding.get({ projectId, serverName });
}
