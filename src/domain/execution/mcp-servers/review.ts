// The review before a person approves tools: each tool as defined now, next to its definition at the last approval.
import type { Caller } from '#access/principal.ts';
import { hours, now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { isReviewed, McpBinding, McpCall, type ToolDefinition } from './model.ts';
import { findOwnProject } from './view.ts';

export const toolChanges = ['new', 'changed', 'removed', 'none'] as const;

export interface ReviewedTool {
  name: string;
  change: (typeof toolChanges)[number];
  /** The present definition; null means that the tool was removed. */
  present: ToolDefinition | null;
  /** The definition that was reviewed; null when the tool was not reviewed, or was reviewed before definitions were stored. */
  reviewed: ToolDefinition | null;
}

export interface ToolReview {
  binding: McpBinding;
  tools: ReviewedTool[];
  /** Whether the caller asked for specific tools by name. */
  isNarrowed: boolean;
}

/** Compares the tools of a bound server, or only the named ones, with their reviewed definitions. @throws 404 */
export async function reviewTools(
  caller: Caller,
  projectId: string,
  serverName: string,
  names: readonly string[] | null | undefined,
): Promise<ToolReview> {
  await findOwnProject(caller, projectId);
  const binding = await McpBinding.get({ projectId, serverName });
  const tools = await reviewedTools(binding);
  return { binding, tools: tools.filter(({ name }) => names?.includes(name) ?? true), isNarrowed: names != null };
}

/** The tools in the order in which the server lists them, followed by tools that the server has removed. */
async function reviewedTools(binding: McpBinding): Promise<ReviewedTool[]> {
  const [row] = await sql<{ reviewedDefinitions: ToolDefinition[] | null }>(
    'select reviewed_definitions from mcp_bindings where id = $1',
    [binding.id],
  );
  const before = new Map((row?.reviewedDefinitions ?? []).map((tool) => [tool.name, tool]));
  const present = binding.toolSnapshot.map((tool): ReviewedTool => {
    const wasReviewed = Object.hasOwn(binding.reviewedTools, tool.name);
    const change = isReviewed(binding, tool) ? 'none' : wasReviewed ? 'changed' : 'new';
    return { name: tool.name, change, present: tool, reviewed: before.get(tool.name) ?? null };
  });
  const names = new Set(binding.toolSnapshot.map(({ name }) => name));
  const removed = Object.keys(binding.reviewedTools).filter((name) => !names.has(name));
  return [
    ...present,
    ...removed.map(
      (name): ReviewedTool => ({ name, change: 'removed', present: null, reviewed: before.get(name) ?? null }),
    ),
  ];
}

const recentMs = hours(24);
const maxCalls = 50;

export interface RecentCalls {
  /** Calls, newest first, up to a maximum. */
  calls: McpCall[];
  counts: { serverName: string; outcome: McpCall['outcome']; count: number }[];
}

/** Calls of MCP tools by the runs of a project in the last day. */
export async function recentCalls(projectId: string): Promise<RecentCalls> {
  const since = now() - recentMs;
  const [calls, counts] = await Promise.all([
    McpCall.query()
      .select(...McpCall.columns)
      .where({ projectId })
      .where('createdAt', '>', since)
      .orderBy('createdAt', 'desc')
      .limit(maxCalls),
    sql<RecentCalls['counts'][number]>(
      `select server_name, outcome, count(*)::int as count from mcp_calls where project_id = $1 and created_at > $2
        group by server_name, outcome order by server_name, outcome`,
      [projectId, since],
    ),
  ]);
  return { calls, counts };
}
