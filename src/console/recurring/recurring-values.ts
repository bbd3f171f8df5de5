// The values in the form of a scheduled task or an automation. `recurringValues` fills the form from a record, and `recurringInput` converts
// the values to the input of an API call.
import { type PolicyValues, policyInput, policyLabels, policyValues } from '../effects/policy-field.tsx';
import type { TaskPartsFragment, Weekday } from '../generated/documents.ts';
import { type EventRule, ruleOf, triggerOf } from './event-values.ts';
import type { Schedule } from './next-times.ts';

export interface RecurringValues extends PolicyValues {
  projectId: string;
  name: string;
  prompt: string;
  agentId: string;
  triggers: Schedule[];
  eventTriggers: EventRule[];
  labels: string;
  skipIfPreviousOpen: boolean;
  templateKey: string | null;
}

export const recurringLabels = {
  projectId: 'Project',
  name: 'Name',
  prompt: 'Task',
  agentId: 'Agent',
  triggers: 'Times',
  eventTriggers: 'Events',
  labels: 'Labels',
  skipIfPreviousOpen: 'Skip while a mission is open',
  ...policyLabels,
};

/** Time zone of this browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const emptyRecurring = (projectId: string): RecurringValues => ({
  projectId,
  name: '',
  prompt: '',
  agentId: '',
  triggers: [{ interval: 'weekly', weekday: 'monday', time: '09:00', timezone: ownZone }],
  eventTriggers: [],
  labels: '',
  skipIfPreviousOpen: true,
  templateKey: null,
  ...policyValues(null),
});

export const recurringValues = (one: TaskPartsFragment): RecurringValues => ({
  projectId: one.projectId,
  name: one.name,
  prompt: one.prompt,
  agentId: one.agentId ?? '',
  triggers: one.triggers.map(({ schedule: { interval, time, timezone, weekday, dayOfMonth } }) => ({
    ...{ interval, time, timezone, weekday, dayOfMonth },
  })),
  eventTriggers: one.eventTriggers.map(ruleOf),
  labels: one.labels.join(', '),
  skipIfPreviousOpen: one.skipIfPreviousOpen,
  templateKey: one.templateKey,
  ...policyValues(one.effectPolicy),
});

export const recurringInput = ({
  agentId,
  triggers,
  eventTriggers,
  labels,
  waits,
  allowedTools,
  ...rest
}: RecurringValues) => ({
  ...rest,
  effectPolicy: policyInput({ waits, allowedTools }),
  agentId: agentId || null,
  eventTriggers: eventTriggers.map(triggerOf),
  labels: labels.split(',').flatMap((label) => label.trim() || []),
  triggers: triggers.map(({ interval, time, timezone, weekday, dayOfMonth }) => ({
    kind: 'schedule' as const,
    schedule: {
      ...{ interval, time, timezone },
      ...(interval === 'weekly' && { weekday: (weekday ?? 'monday') as Weekday }),
      ...(interval === 'monthly' && { dayOfMonth: Number(dayOfMonth ?? 1) }),
    },
  })),
});
