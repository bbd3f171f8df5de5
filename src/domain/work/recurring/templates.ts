// Ready-made missions with a prompt and a suitable schedule (docs/contract.md#templates). Data, shared by scheduled tasks and automations.
import { scriptAgentId } from '../../projects/agents/catalog.ts';
import type { Schedule } from './schedule.ts';

export interface Template {
  key: string;
  name: string;
  blurb: string;
  prompt: string;
  suggestedSchedule: Schedule;
  /**
   * The agent of a scheduled task or automation that is created from the template, if the request to create it does not contain `agentId`. Absent
   * means that any agent may carry out the missions.
   */
  agentId?: string;
}

const timezone = 'UTC';

export const templates = [
  {
    key: 'dependency-updates',
    name: 'Dependency updates',
    blurb: 'Brings dependencies up to date and proves that everything still works.',
    prompt:
      'Find dependencies with a newer release that fits our version ranges. Update them in small groups, read the release ' +
      'notes for breaking changes, run the tests after each group, and open one pull request that says what changed and why. ' +
      'Leave out an update whose tests fail, and say so.',
    suggestedSchedule: { interval: 'weekly', time: '06:00', timezone, weekday: 'monday' },
  },
  {
    key: 'security-review',
    name: 'Security review',
    blurb: 'Reviews the changes of the week for security problems.',
    prompt:
      'Review every change that was merged in the last seven days for security problems: injection, missing authorization, ' +
      'secrets in code or logs, unsafe deserialization, new dependencies with known advisories. Report each finding with file, ' +
      'line, a way to exploit it and a fix; open a pull request for those that are safe to fix at once.',
    suggestedSchedule: { interval: 'weekly', time: '07:00', timezone, weekday: 'friday' },
  },
  {
    key: 'flaky-tests',
    name: 'Flaky tests',
    blurb: 'Finds tests that sometimes fail without a change of the code.',
    prompt:
      'Run the test suite several times and note every test whose result differs between runs. For each, find the cause ' +
      '(time, order, shared state, network), fix the test or the code, and show that it now passes twenty times in a row.',
    suggestedSchedule: { interval: 'daily', time: '02:00', timezone },
  },
  {
    key: 'issue-triage',
    name: 'Issue triage',
    blurb: 'Sorts new issues every morning.',
    prompt:
      'Read the issues that were opened since yesterday. For each, look for duplicates, try to reproduce it, add the labels ' +
      'that fit, and leave a comment with what you found and what is still missing. Change no code.',
    suggestedSchedule: { interval: 'daily', time: '07:30', timezone },
  },
  {
    key: 'release-notes',
    name: 'Release notes',
    blurb: 'Writes release notes for users about the changes of the week.',
    prompt:
      'Collect what was merged in the last seven days and write release notes for users: what is new, what is fixed, what they ' +
      'have to do. Group by area, leave out internal changes, link the pull requests, and open a pull request with the text.',
    suggestedSchedule: { interval: 'weekly', time: '15:00', timezone, weekday: 'thursday' },
  },
  {
    key: 'documentation-check',
    name: 'Documentation check',
    blurb: 'Checks the documentation against the code once a month.',
    prompt:
      'Go through the documentation page by page and try every command and example as a newcomer would. Correct what is no ' +
      'longer true, note what is missing, and open a pull request with the corrections.',
    suggestedSchedule: { interval: 'monthly', time: '09:00', timezone, dayOfMonth: 1 },
  },
  {
    key: 'script',
    name: 'Script',
    blurb: 'Runs a POSIX shell script without a language model.',
    prompt: 'echo "It works."\n',
    suggestedSchedule: { interval: 'daily', time: '06:00', timezone },
    agentId: scriptAgentId,
  },
] as const satisfies readonly Template[];

export const templateKeys = templates.map(({ key }) => key);

/** The agent that the template names; null means that any agent may work on its missions. */
export const agentOfTemplate = (templateKey: string | null | undefined): string | null =>
  (templates as readonly Template[]).find(({ key }) => key === templateKey)?.agentId ?? null;
