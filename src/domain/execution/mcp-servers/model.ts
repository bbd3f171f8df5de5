// The binding of an MCP server to a project, and the calls of its tools by runs (docs/contract.md#mcp-servers). The status of a binding
// is derived, not stored.
import { createHash } from 'node:crypto';
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Run } from '../../work/runs/model.ts';

export const transports = ['remote', 'sandbox'] as const;
export const authKinds = ['none', 'bearer', 'headers', 'oauth'] as const;
export type AuthKind = (typeof authKinds)[number];
export const bindingStatuses = ['ready', 'needs_auth', 'needs_review', 'error', 'disabled'] as const;
export type BindingStatus = (typeof bindingStatuses)[number];
export type Drift = 'undeclared' | 'address' | 'declaration';

/** A tool as its server defines it. */
export interface ToolDefinition {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
  annotations?: Record<string, unknown> | undefined;
}

export interface ApprovedTool {
  name: string;
  /** Whether a person attests that the tool is read-only. The server's own claim does not suffice. */
  attestedReadOnly: boolean;
  /** Whether each call of the tool needs a person's decision. */
  alwaysAsk?: boolean | undefined;
}

export class McpBinding extends table('mcp_bindings', {
  id: column<Id<'mcpBinding'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  /** Name of the server in the config file. */
  serverName: column<string>(),
  transport: column<(typeof transports)[number]>(),
  enabled: column<boolean>(),
  /** The roles whose agents may use the server. */
  roles: column<AgentRole[]>(),
  authKind: column<AuthKind>(),
  /** The URL at the time of binding: requests go to no other URL. */
  pinnedUrl: column<string | null>(),
  packageSpec: column<string | null>(),
  /** Checksum of the package at its first run; null before that run, and for a server that is a file of the repository. */
  packageIntegrity: column<string | null>(),
  /** Digest of the declaration at the time of binding; null means it was not declared. */
  declaredDigest: column<string | null>(),
  secretRefs: column<string[]>(),
  /** Differences between the present and the bound declaration; null means that they are equal. */
  drift: column<Drift | null>(),
  /** Hosts that requests may reach in addition to the host of `pinnedUrl`. */
  allowedEgressHosts: column<string[]>(),
  credentialFields: column<string[]>(),
  /** Whether the server rejected the credentials. */
  needsAuthorization: column<boolean>(),
  lastError: column<string | null>(),
  toolSnapshot: column<ToolDefinition[]>(),
  toolsRefreshedAt: column<number | null>(),
  /** The digest of each tool's definition at the last approval, by name. */
  reviewedTools: column<Record<string, string>>(),
  approvedTools: column<ApprovedTool[]>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'MCP server binding';
  static override order = '"project_id", "server_name"';
  static override jsonAttributes = ['toolSnapshot', 'reviewedTools', 'reviewedDefinitions', 'approvedTools'];

  static visibleTo = withinReach;
  static {
    this.belongsTo('project', Project, 'projectId');
  }

  /**
   * The tool definitions whose digests are in `reviewedTools`. They are large, so only the review reads them. Null in bindings that were
   * reviewed before definitions were stored.
   */
  declare reviewedDefinitions: ToolDefinition[] | null;
  /** The sealed headers and credential values, which are not columns, so that no read returns them. */
  declare sealedHeaders: string | null;
  declare sealedCredentials: string | null;
}

/** The digest of the parts of a tool that people review: name, descriptions, schemas and hints. */
export const toolDigest = (tool: ToolDefinition): string =>
  createHash('sha256').update(JSON.stringify(tool)).digest('hex');

export const isReviewed = ({ reviewedTools }: McpBinding, tool: ToolDefinition): boolean =>
  Object.hasOwn(reviewedTools, tool.name) && reviewedTools[tool.name] === toolDigest(tool);

const drifts: Record<Drift, [status: BindingStatus, detail: string]> = {
  undeclared: ['error', 'The config file of the project does not declare this server, or cannot be read.'],
  address: ['needs_review', 'The declared URL has changed. Nothing is sent to it until the server is bound again.'],
  declaration: ['needs_review', 'The declaration has changed. Nothing is sent until the server is bound again.'],
};

type Facts = Pick<
  McpBinding,
  'enabled' | 'transport' | 'drift' | 'secretRefs' | 'credentialFields' | 'needsAuthorization' | 'authKind'
>;

/** Reason why the binding cannot be used at all; null when it can. */
export function obstacleOf(binding: Facts): [status: BindingStatus, detail: string | null] | null {
  if (!binding.enabled) return ['disabled', null];
  if (binding.drift) return drifts[binding.drift];
  // If the server runs in a sandbox, the runtime fills in the secrets, and it also knows the project's secrets. So no secret counts as
  // missing here.
  if (binding.transport === 'sandbox') return null;
  const missing = binding.secretRefs.filter((name) => !binding.credentialFields.includes(name));
  if (missing.length > 0) return ['needs_auth', `Credentials are missing: ${missing.join(', ')}.`];
  if (!binding.needsAuthorization) return null;
  const remedy = binding.authKind === 'oauth' ? 'Connect it with OAuth.' : 'Replace them, or connect it with OAuth.';
  return ['needs_auth', `The server does not accept the credentials. ${remedy}`];
}

/** The status, derived from the stored facts. If several apply, it is the most severe one. */
export function statusOfServer(binding: McpBinding): { status: BindingStatus; statusDetail: string | null } {
  const obstacle = obstacleOf(binding);
  if (obstacle) return { status: obstacle[0], statusDetail: obstacle[1] };
  if (binding.lastError) return { status: 'error', statusDetail: binding.lastError };
  if (binding.transport === 'sandbox' && binding.toolsRefreshedAt === null)
    return {
      status: 'needs_review',
      statusDetail: 'Its tools are read when the next mission with one of its roles starts the server.',
    };
  const news = binding.toolSnapshot.filter((tool) => !isReviewed(binding, tool)).map(({ name }) => name);
  if (news.length === 0) return { status: 'ready', statusDetail: null };
  const more = news.length > 5 ? ` and ${news.length - 5} more` : '';
  return { status: 'needs_review', statusDetail: `New or changed tools: ${news.slice(0, 5).join(', ')}${more}.` };
}

/** The roles that may change data. Agents with other roles get only tools that a person has confirmed to be read-only. */
const changing: readonly AgentRole[] = ['builder'];

/**
 * The tools of the server that an agent with the role may use. A person has approved each of these tools, and none of them has changed since
 * its approval.
 */
export function toolsFor(binding: McpBinding, role: AgentRole): ToolDefinition[] {
  if (!binding.roles.includes(role)) return [];
  const approved = new Map(binding.approvedTools.map((tool) => [tool.name, tool]));
  return binding.toolSnapshot.filter((tool) => {
    const approval = approved.get(tool.name);
    return approval && isReviewed(binding, tool) && (changing.includes(role) || approval.attestedReadOnly);
  });
}

export const callOutcomes = ['ok', 'tool_error', 'refused', 'failed'] as const;

/** One call of a tool, by a run. */
export class McpCall extends table('mcp_calls', {
  id: column<Id<'mcpCall'>>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  runId: column<Id<'run'>>(),
  serverName: column<string>(),
  tool: column<string>(),
  outcome: column<(typeof callOutcomes)[number]>(),
  durationMs: column<number>(),
  createdAt: column<number>(),
}) {
  static override noun = 'MCP call';

  static visibleTo = withinReach;
  static {
    this.belongsTo('run', Run, 'runId', 'mcpCalls');
  }
}
