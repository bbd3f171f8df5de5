// Common questions as prompts (MCP 2025-11-25, Server Features: Prompts). The texts name the tools, and the time, which a model does not
// know.
import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isoTime, now } from '#foundation/clock.ts';
import type { Calls } from './call.ts';
import { readResource } from './resources.ts';

interface Written {
  listed: Prompt & { arguments: NonNullable<Prompt['arguments']> };
  /** The prompt is offered only to callers with all of these tools. */
  tools: string[];
  text(values: Record<string, string>): string;
  /** URI of the record that is attached to the text. */
  attached?(values: Record<string, string>): string;
}

const project = { name: 'projectId', description: 'Only this project; all projects when omitted.', required: false };
const ofProject = ({ projectId }: Record<string, string>): string => (projectId ? ` and projectId ${projectId}` : '');

const prompts: readonly Written[] = [
  {
    listed: {
      name: 'what_failed_last_night',
      title: 'What failed last night?',
      description: 'The runs that failed in the last 16 hours, grouped by cause, with the first action to take.',
      arguments: [project],
    },
    tools: ['list_runs', 'list_sandboxes', 'get_sandbox', 'get_sandbox_log'],
    text: (values) =>
      `What failed last night? Call list_runs with status failed${ofProject(values)}, and keep the runs whose finishedAt is ` +
      'within the last 16 hours. For each, tell me its missionTitle, when it ended, and the cause from reason and lastError. ' +
      'If these do not explain it, find its sandbox with list_sandboxes (by runId), its sessions with get_sandbox, and ' +
      'read the end of the log with get_sandbox_log. Group runs with the same cause, and end with what I should do first. ' +
      'If nothing failed, say so in one sentence.',
  },
  {
    listed: {
      name: 'explain_run',
      title: 'Explain a run',
      description: 'The work of a run, its current state, and the reason for its wait or failure.',
      arguments: [{ name: 'runId', description: 'The run.', required: true }],
    },
    tools: ['get_run', 'list_sandboxes', 'get_sandbox', 'get_sandbox_log', 'list_artifacts'],
    text: ({ runId }) =>
      `Explain the run ${runId} to me; its record is attached. Say in plain words what it was to do, where it stands, and ` +
      'what it waits for or why it failed. Look into its sandbox (list_sandboxes, get_sandbox, get_sandbox_log) for what the ' +
      'agent did, and at its proof of work (list_artifacts with its issueId). End with the next step for me, if there is one.',
    attached: ({ runId }) => `aep://runs/${encodeURIComponent(runId!)}`,
  },
  {
    listed: {
      name: 'project_status',
      title: 'How is this project doing?',
      description: 'A short report on a project: running, completed and failed missions, costs, and obstacles.',
      arguments: [{ name: 'projectId', description: 'The project.', required: true }],
    },
    tools: ['get_project', 'list_runs', 'list_environments'],
    text: ({ projectId }) =>
      `How is the project ${projectId} doing? Its record is attached. Call list_runs with its projectId, and report in five ` +
      'lines at most: what runs now, what completed and what failed in the last seven days, what that cost ' +
      '(missionCostUsd), and what is in the way (missingConnectorKinds, runs that wait and why). List its preview ' +
      'environments (list_environments) with their addresses.',
    attached: ({ projectId }) => `aep://projects/${encodeURIComponent(projectId!)}`,
  },
  {
    listed: {
      name: 'what_did_it_cost',
      title: 'What did the missions cost this week?',
      description: 'The cost of the runs of the last seven days, by mission, with notable values.',
      arguments: [project],
    },
    tools: ['list_runs', 'get_orchestrator'],
    text: (values) =>
      `What did the missions cost this week? Read list_runs${values.projectId ? ` with projectId ${values.projectId}` : ''} page ` +
      'by page until createdAt is older than seven days. Sum missionCostUsd by missionTitle in a table, the dearest first, ' +
      'with the number of runs and the mean. Point out runs that cost more than twice the mean of their mission, and sums ' +
      'that are known to be incomplete (missionCostIncomplete). Compare today with the daily cap (get_orchestrator).',
  },
  {
    listed: {
      name: 'run_task_now',
      title: 'Run a scheduled task now',
      description: 'Starts a scheduled task and reports when a runtime has claimed it.',
      arguments: [{ name: 'scheduledTaskId', description: 'The scheduled task.', required: true }],
    },
    tools: ['get_scheduled_task', 'run_scheduled_task', 'get_run'],
    text: ({ scheduledTaskId }) =>
      `Run the scheduled task ${scheduledTaskId} now. First show me its name, project and prompt (get_scheduled_task). Then ` +
      'call run_scheduled_task once; it spends credits. Tell me the id of the run and its issue. If it is still dispatching, ' +
      'say what it waits for (get_run, reason).',
  },
];

const isOffered = (calls: Calls, { tools }: Written): boolean => tools.every((tool) => calls.may(tool));

export const listPrompts = (calls: Calls): Prompt[] =>
  prompts.filter((prompt) => isOffered(calls, prompt)).map(({ listed }) => listed);

export const hasPrompt = (name: string): boolean => prompts.some(({ listed }) => listed.name === name);

/**
 * Returns the messages of a prompt.
 * @throws ProtocolError if the prompt is not offered, or if an argument is missing or too long. If the record that the prompt attaches cannot
 * be read, the error of `readResource` is thrown.
 */
export async function getPrompt(
  calls: Calls,
  name: string,
  values: Record<string, string> = {},
): Promise<GetPromptResult> {
  const prompt = prompts.find((one) => one.listed.name === name);
  if (!prompt || !isOffered(calls, prompt)) throw invalidParams(`Unknown prompt: ${name}`);
  for (const { name, required } of prompt.listed.arguments) {
    if (required && !values[name]) throw invalidParams(`${name}: is required.`);
    if ((values[name]?.length ?? 0) > 200) throw invalidParams(`${name}: must be at most 200 characters.`);
  }
  const text = `${prompt.text(values)} It is now ${isoTime(now())} (${now()} milliseconds since 1970).`;
  const uri = prompt.attached?.(values);
  return {
    description: prompt.listed.description!,
    messages: [
      { role: 'user', content: { type: 'text', text } },
      ...(uri
        ? [{ role: 'user' as const, content: { type: 'resource' as const, resource: await readResource(calls, uri) } }]
        : []),
    ],
  };
}

const invalidParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
