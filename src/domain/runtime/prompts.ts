// What each step of a mission is asked. Words of people, of agents and of the platform are kept apart by headings.
import type { Delivered } from '../runs/messages.ts';
import type { Plan, Review, Test } from './handovers.ts';

export interface Task {
  /** Of the mission. */
  prompt: string;
  plan: Plan | null;
  branch: string;
}

const sections = (...parts: (string | null)[]): string => parts.filter((part) => part !== null).join('\n\n');
const listed = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
const planOf = ({ plan }: Task): string | null =>
  plan && `# The plan\n\n${plan.steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}`;

export const planPrompt = ({ prompt }: Task): string =>
  sections(prompt, '# Your part\n\nWrite the plan of this task: steps that somebody else can follow. Change nothing.');

/** Without a plan the task alone: what an agent is asked that works on its own. */
export const buildPrompt = (task: Task): string =>
  task.plan
    ? sections(task.prompt, planOf(task), '# Your part\n\nFollow the plan, and commit the change.')
    : task.prompt;

export const reviewPrompt = (task: Task): string =>
  sections(
    `# The task\n\n${task.prompt}`,
    planOf(task),
    `# Your part\n\nReview the commits on the branch ${task.branch} against the branch that it began from. Request changes only ` +
      'for what is wrong or missing, and say what to do. Change nothing.',
  );

export const testPrompt = (task: Task): string =>
  sections(
    `# The task\n\n${task.prompt}`,
    planOf(task),
    `# Your part\n\nTry the change on the branch ${task.branch} as a user would. It has passed when it does what the task asks ` +
      'for. Change nothing.',
  );

export const reviewedPrompt = ({ comments }: Review): string =>
  sections(
    '# The review requests changes',
    listed(comments.map(({ path, line, body }) => `${path ? `${path}${line ? `:${line}` : ''}: ` : ''}${body}`)),
    'Address each point, and commit the change.',
  );

export const testedPrompt = ({ findings }: Test): string =>
  sections('# The test has failed', listed(findings), 'Correct what is wrong, and commit the change.');

export const messagesPrompt = (messages: readonly Delivered[]): string =>
  sections(...messages.map(({ author, text }) => `# Message from ${author}\n\n${text}`));

/** Within the session that gave the invalid output. */
export const repeatPrompt = (problem: string): string =>
  `Your structured output was not accepted: ${problem} Answer again with output that matches the schema.`;
