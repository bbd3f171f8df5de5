// The values of the fields for event rules. Each field of a rule is a text in the form; the text is empty if the rule lacks the field.
import type { EventAuthors, EventKind, EventTriggerPartsFragment } from '../generated/documents.ts';

export interface EventRule {
  kind: EventKind;
  from: EventAuthors;
  hookId: string;
  label: string;
  assignee: string;
  mention: string;
  branch: string;
  filter: string;
  key: string;
  template: string;
  outsiderTemplateId: string;
}

export type RuleText = Exclude<keyof EventRule, 'kind' | 'from'>;

export const blankRule: EventRule = {
  ...{ kind: 'issue', from: 'writers', hookId: '', label: '', assignee: '', mention: '' },
  ...{ branch: '', filter: '', key: '', template: '', outsiderTemplateId: '' },
};

export const kindWords: Readonly<Record<EventKind, string>> = {
  issue: 'Issue',
  comment: 'Comment or review',
  pullRequest: 'Pull request',
  check: 'Failed check',
  session: 'Session of the agent (Linear)',
  webhook: 'Any event of a hook',
};

/** For each kind of event rule: the fields that rules of this kind have, and that rules of some other kinds lack. */
export const conditions: Readonly<Record<EventKind, readonly ('label' | 'assignee' | 'mention' | 'branch')[]>> = {
  issue: ['label', 'assignee'],
  comment: ['mention'],
  pullRequest: ['label'],
  check: ['branch'],
  session: [],
  webhook: [],
};

export const ruleOf = (trigger: EventTriggerPartsFragment): EventRule => ({
  ...blankRule,
  ...(Object.fromEntries(Object.entries(trigger).map(([name, value]) => [name, value ?? ''])) as unknown as EventRule),
});

export function triggerOf({ kind, from, ...texts }: EventRule) {
  const named: readonly RuleText[] = ['hookId', ...conditions[kind], 'filter', 'key', 'template', 'outsiderTemplateId'];
  const present = named.flatMap((name) => (texts[name].trim() === '' ? [] : [[name, texts[name].trim()] as const]));
  return { kind, from, ...(Object.fromEntries(present) as Partial<Record<RuleText, string>>) };
}

/** A rule in words, such as `when an issue gets the label agent`. */
export function ruleWords({
  kind,
  label,
  assignee,
  mention,
  branch,
}: Pick<EventTriggerPartsFragment, 'kind' | 'label' | 'assignee' | 'mention' | 'branch'>): string {
  const noun = kind === 'pullRequest' ? 'a pull request' : 'an issue';
  if (kind === 'comment') return `when a comment mentions @${mention}`;
  if (kind === 'check') return `when a check fails${branch ? ` on ${branch}` : ''}`;
  if (kind === 'session') return 'when an issue is delegated to the agent, or the agent is mentioned on an issue';
  if (kind === 'webhook') return 'on events of a hook';
  if (label) return `when ${noun} gets the label ${label}`;
  return assignee ? `when an issue is assigned to ${assignee}` : `when ${noun} is opened`;
}
