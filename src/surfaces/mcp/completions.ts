// Completions for the arguments of prompts and resource templates while a person types (MCP 2025-11-25, Utilities: Completion).
import type { CompleteResult } from '@modelcontextprotocol/server';
import type { Calls, ToolRecord } from './call.ts';

/** Maximum number of values; the specification of MCP allows at most 100. */
const maxCompletions = 100;

/** A value, with further text by which a person may search for the value, such as a name. */
type Candidate = [value: string, words?: string | null];

type Candidates = (calls: Calls, resolvedArguments: Record<string, string>) => Promise<Candidate[]> | Candidate[];

const newest =
  (tool: string, entry: (record: ToolRecord) => Candidate): Candidates =>
  async (calls) => {
    if (!calls.may(tool)) return [];
    const { data } = await calls.call(tool, { limit: maxCompletions });
    return (data as ToolRecord[]).map(entry);
  };

/** Candidates for a completion, by the name of the argument. */
const candidates: Record<string, Candidates> = {
  projectId: newest('list_projects', ({ id, name }) => [id, name]),
  runId: newest('list_runs', ({ id, missionTitle }) => [id, missionTitle]),
  sandboxId: newest('list_sandboxes', ({ sandboxId, issueId }) => [sandboxId, issueId]),
  artifactId: newest('list_artifacts', ({ id, caption }) => [id, caption]),
  scheduledTaskId: newest('list_scheduled_tasks', ({ id, name }) => [id, name]),
  role: (calls) => calls.valuesOf('get_sandbox_log', 'role').map((role) => [role]),
  part: (calls) => calls.valuesOf('get_sandbox_log', 'part').map((part) => [part]),
  sessionId: async (calls, { sandboxId, role }) => {
    if (!sandboxId || !calls.may('get_sandbox')) return [];
    const { sessions } = await calls.call('get_sandbox', { sandboxId });
    return (sessions as ToolRecord[])
      .filter((session) => !role || session.role === role)
      .map(({ sessionId }) => [sessionId]);
  },
};

/** Values that begin with the typed text, or whose words contain it. Empty for an argument without candidates. */
export async function complete(
  calls: Calls,
  { name, value }: { name: string; value: string },
  resolvedArguments: Record<string, string> = {},
): Promise<CompleteResult> {
  const typed = value.toLowerCase();
  const all = Object.hasOwn(candidates, name) ? await candidates[name]!(calls, resolvedArguments) : [];
  const values = all
    .filter(([id, words]) => id.toLowerCase().startsWith(typed) || words?.toLowerCase().includes(typed))
    .map(([id]) => id);
  const firstValues = values.slice(0, maxCompletions);
  return { completion: { values: firstValues, hasMore: firstValues.length < values.length } };
}
