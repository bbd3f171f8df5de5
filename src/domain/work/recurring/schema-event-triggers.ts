// GraphQL types and checks for event triggers of recurring missions. REST has only schedules, as specified.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { inboundCounts, inboundText } from '../inbound-hooks/bounds.ts';
import { expressionError, templateError } from '../inbound-hooks/expressions.ts';
import { type EventTrigger, eventAuthors, eventKinds } from './model.ts';

const EventKind = wordSet('EventKind', eventKinds, 'Kind of event that starts a mission.', {
  issue: 'An issue is opened, labeled or assigned.',
  comment: 'A comment or review mentions an agent.',
  pullRequest: 'A pull request is opened or labeled.',
  check: 'A check, workflow or commit status fails, except on the branch of a mission.',
  session: 'An issue is delegated to the agent, or mentions it, at a tracker with sessions of agents (Linear).',
  webhook: 'Any event of a hook.',
});
const EventAuthors = wordSet(
  'EventAuthors',
  eventAuthors,
  'People whose events start missions; events of other people wait for an approval.',
  {
    writers: 'People with write access to the repository.',
    members: 'Members of the organization whose account at the host is linked, and who may start missions.',
    anyone: 'Everybody.',
  },
);

const described = {
  hookId: 'The hook whose events may match; required for `webhook`. Absent means every hook with events of this kind.',
  label:
    'The label that is added to an issue or pull request. Absent means that the rule matches opened issues and pull requests.',
  assignee: 'The login to which an issue is assigned.',
  mention: 'The name after the `@` in a comment; required for `comment`.',
  branch: 'The branch of the failed check. Absent means any.',
  filter: 'A JMESPath expression that must be true for the payload of the event.',
  key:
    'A JMESPath expression that yields a value of the payload. Of several events with the same value within 30 days, only the ' +
    'first starts a mission.',
  template:
    'Text for the agent, in which `{{ JMESPath }}` stands for a value of the payload. Absent means the text of the issue or event.',
  outsiderTemplateId:
    'The sandbox template of each mission that an event of an outsider starts. An outsider is a person who has no write access ' +
    'to the repository and is not a member with a linked account. The template applies even if a member has approved the event. ' +
    'The agents of such a mission get only the network, variables and secrets of this template. Absent means the templates of ' +
    'the agents and the project.',
} as const;

export const EventTriggerType = builder.objectRef<EventTrigger>('EventTrigger').implement({
  description: 'A rule: a matching event starts a mission. The agent gets the event as quoted text.',
  fields: (t) => {
    const optional = (name: keyof typeof described) =>
      t.exposeString(name, { nullable: true, description: described[name] });
    return {
      kind: t.expose('kind', { type: EventKind.type, description: 'Kind of event.' }),
      from: t.expose('from', { type: EventAuthors.type, description: 'The people whose events start missions.' }),
      hookId: optional('hookId'),
      label: optional('label'),
      assignee: optional('assignee'),
      mention: optional('mention'),
      branch: optional('branch'),
      filter: optional('filter'),
      key: optional('key'),
      template: optional('template'),
      outsiderTemplateId: optional('outsiderTemplateId'),
    };
  },
});

const checked = (bounds: { min: number; max: number }, errorOf: (value: string) => string | null) =>
  boundedText(bounds).superRefine((value, issues) => {
    const message = value.length <= bounds.max ? errorOf(value) : null;
    if (message) issues.addIssue({ code: 'custom', message });
  });
const word = boundedText(inboundText.word);
const expression = checked(inboundText.expression, expressionError);

/**
 * Fields of a trigger that depend on its kind; all kinds also have `hookId`, `from`, `filter`, `key`, `template` and `outsiderTemplateId`.
 * For `comment`, `mention` is required.
 */
const conditions: Readonly<Record<EventTrigger['kind'], readonly ('label' | 'assignee' | 'mention' | 'branch')[]>> = {
  issue: ['label', 'assignee'],
  comment: ['mention'],
  pullRequest: ['label'],
  check: ['branch'],
  session: [],
  webhook: [],
};

export const eventTrigger = z
  .object({
    kind: EventKind.zod.describe('Kind of event.'),
    from: EventAuthors.zod.default('writers').describe('The people whose events start missions.'),
    hookId: boundedText(text.pathId).nullish().describe(described.hookId),
    label: word.nullish().describe(described.label),
    assignee: word.nullish().describe(described.assignee),
    mention: word
      .regex(/^[\w-]+$/, 'must be a name without @')
      .nullish()
      .describe(described.mention),
    branch: boundedText(text.gitRef).nullish().describe(described.branch),
    filter: expression.nullish().describe(described.filter),
    key: expression.nullish().describe(described.key),
    template: checked(inboundText.template, templateError).nullish().describe(described.template),
    outsiderTemplateId: boundedText(text.pathId).nullish().describe(described.outsiderTemplateId),
  })
  .superRefine((trigger, issues) => {
    const { kind } = trigger;
    const refuse = (member: string, message: string) => issues.addIssue({ code: 'custom', path: [member], message });
    if (kind === 'webhook' && trigger.hookId == null) refuse('hookId', 'is required when kind is webhook');
    if (kind === 'comment' && trigger.mention == null) refuse('mention', 'is required when kind is comment');
    for (const member of ['label', 'assignee', 'mention', 'branch'] as const) {
      if (trigger[member] != null && !conditions[kind].includes(member)) {
        refuse(member, `must be absent when kind is ${kind}`);
      }
    }
    if (trigger.label != null && trigger.assignee != null) refuse('assignee', 'must be absent when label is present');
  });

export const eventTriggers = z
  .array(eventTrigger.describe('A rule: which events start missions, and with which text.'))
  .max(inboundCounts.triggers)
  .describe(`At most ${inboundCounts.triggers} rules; an event that matches one of them starts a mission.`);

export const eventTriggersShown = `${range({ min: 0, max: inboundCounts.triggers })} rules for events that start missions.`;
