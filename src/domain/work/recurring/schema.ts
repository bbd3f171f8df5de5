// GraphQL query for the next occurrences of an organization's recurring missions.
import { z } from 'zod';
import { idOfNoun } from '#foundation/ids.ts';
import { builder } from '#graph/builder.ts';
import { filter } from '#graph/input.ts';
import { epochMs, members, string, typed } from '#graph/members.ts';
import { upcomingShown } from '#limits.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { type Occurrence, upcomingOccurrences } from './upcoming.ts';

const UpcomingOccurrence = builder.objectRef<Occurrence>('UpcomingOccurrence').implement({
  description: 'The next occurrence of a scheduled task or an automation.',
  fields: (t) =>
    members(t, {
      at: epochMs('When the occurrence is due; in the past while its run is being created.'),
      name: string('The name of the scheduled task or automation.'),
      projectId: string('The project in whose repository the mission works.'),
      scheduledTaskId: t.string({
        nullable: true,
        description: 'The id of the scheduled task; null for an automation.',
        resolve: ({ id }) => idOfNoun('scheduledTask', id),
      }),
      automationId: t.string({
        nullable: true,
        description: 'The id of the automation; null for a scheduled task.',
        resolve: ({ id }) => idOfNoun('automation', id),
      }),
      project: t.byId(ProjectType, 'projectId', {
        link: 'projects:read',
        description: 'The project in whose repository the mission works.',
      }),
    }),
});

const UpcomingOccurrenceList = builder.objectRef<{ data: Occurrence[] }>('UpcomingOccurrenceList').implement({
  description: 'The next occurrences.',
  fields: (t) =>
    members(t, {
      data: typed([UpcomingOccurrence], 'The occurrences, soonest first.'),
    }),
});

builder.queryField('upcomingOccurrences', (t) =>
  t.field({
    description:
      'The next occurrence of each scheduled task and automation, soonest first. Automations are included only with the scope `automations:read`.',
    scope: 'scheduled-tasks:read',
    type: UpcomingOccurrenceList,
    args: {
      projectId: t.arg.string({ ...filter, description: 'Only occurrences of this project.' }),
      limit: t.arg.int({
        required: true,
        defaultValue: upcomingShown.default,
        description: `Number of occurrences, ${upcomingShown.min} to ${upcomingShown.max}.`,
        validate: { schema: z.int().min(upcomingShown.min).max(upcomingShown.max) },
      }),
    },
    resolve: async (_, args, { caller }) => ({ data: await upcomingOccurrences(caller, args) }),
  }),
);
