// A recurring mission (docs/contract.md#scheduled-tasks-and-automations). The two kinds have one table and the same behavior; they
// differ in name, id prefix and scopes.
import { withinReach } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { type Source, selectionOf } from '#foundation/postgres/reads.ts';
import type { EffectPolicy } from '../../projects/effects/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { Run } from '../runs/model.ts';
import type { Schedule } from './schedule.ts';

export const triggerKinds = ['schedule'] as const;
export interface Trigger {
  kind: (typeof triggerKinds)[number];
  schedule: Schedule;
}

export const eventKinds = ['issue', 'comment', 'pullRequest', 'check', 'session', 'webhook'] as const;
export type EventKind = (typeof eventKinds)[number];
export const eventAuthors = ['writers', 'members', 'anyone'] as const;

/** A rule: a matching event of a hook starts a mission. */
export interface EventTrigger {
  kind: EventKind;
  /** The hook whose events may match; absent means every hook with events of this kind. */
  hookId?: string | null | undefined;
  /** Label that was added to the issue or pull request. */
  label?: string | null | undefined;
  /** Login at the tracker to which the issue was assigned. */
  assignee?: string | null | undefined;
  /** Name after the `@` in a comment. */
  mention?: string | null | undefined;
  /** Branch on which the check failed. */
  branch?: string | null | undefined;
  /** People whose events start a mission; events of other people wait for an approval. */
  from: (typeof eventAuthors)[number];
  /** JMESPath expression that must be true for the payload. */
  filter?: string | null | undefined;
  /** JMESPath expression for a deduplication key: of several events with the same value, only the first starts a mission. */
  key?: string | null | undefined;
  /** Template of the text for the agent, with `{{ JMESPath }}`; absent means the text of the event. */
  template?: string | null | undefined;
  /** The sandbox template of missions for events that were caused by a person without write access. */
  outsiderTemplateId?: string | null | undefined;
}

export class RecurringMission extends table('recurring_missions', {
  id: column<Id<'scheduledTask' | 'automation'>>(),
  kind: column<'scheduled_task' | 'automation'>(),
  orgId: column<Id<'organization'>>(),
  projectId: column<Id<'project'>>(),
  name: column<string>(),
  /** Text of the task, for the agent. */
  prompt: column<string>(),
  /** The template that the mission was created from. */
  templateKey: column<string | null>(),
  triggers: column<Trigger[]>(),
  eventTriggers: column<EventTrigger[]>(),
  /** Labels that each created issue gets. */
  labels: column<string[]>(),
  /** Whether an occurrence is skipped while an earlier run of the mission is open. */
  skipIfPreviousOpen: column<boolean>(),
  enabled: column<boolean>(),
  /** The only agent that may work on the runs, possibly a built-in one; null means any. */
  agentId: column<string | null>(),
  /** Policy that decides which outside effects of the missions wait for approval; null means that no effect waits. */
  effectPolicy: column<EffectPolicy | null>(),
  /**
   * Time of the next run; null while the mission is disabled, and without a schedule. Changes only when a run is due, or when the triggers
   * or `enabled` change.
   */
  nextRunAt: column<number | null>(),
  /** When a mission last started; a skipped run does not count. */
  lastRunAt: column<number | null>(),
  createdByUserId: column<Id<'person'>>(),
  /**
   * The person who last changed the task, project, agent or schedule; null while nobody but the creator has changed them. Scheduled runs
   * are billed to this person.
   */
  updatedByUserId: column<Id<'person'> | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'recurring mission';
  static visibleTo = withinReach;
  static override jsonAttributes = ['triggers', 'eventTriggers', 'effectPolicy'];
  /** The kind to which reads are limited; absent means both kinds. */
  static kind?: RecurringMission['kind'];

  static override source(): Source {
    const conditions = this.kind ? [`"kind" = '${this.kind}'`] : [];
    return { select: selectionOf(this), conditions, values: [] };
  }
}

export class ScheduledTask extends RecurringMission {
  static override kind = 'scheduled_task' as const;
  static override noun = 'scheduled task';
  static override listName = 'scheduled_tasks';
  static idNoun = 'scheduledTask' as const;
  static {
    this.belongsTo('project', Project, 'projectId', 'scheduledTasks');
    Run.belongsTo('scheduledTask', this, 'recurringId', 'runs');
  }
}

export class Automation extends RecurringMission {
  static override kind = 'automation' as const;
  static override noun = 'automation';
  static override listName = 'automations';
  static idNoun = 'automation' as const;
  static {
    this.belongsTo('project', Project, 'projectId', 'automations');
    Run.belongsTo('automation', this, 'recurringId', 'runs');
  }
}

export type Kind = typeof ScheduledTask | typeof Automation;
