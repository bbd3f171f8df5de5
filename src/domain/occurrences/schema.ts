// What comes next, in the graph: for a page that shows the whole organization at a glance.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { filter } from '#graph/input.ts';
import { upcomingShown } from '#limits.ts';
import { ProjectType } from '../projects/schema.ts';
import { type Occurrence, upcomingOccurrences } from './operations.ts';

const UpcomingOccurrence = builder.objectRef<Occurrence>('UpcomingOccurrence').implement({
  description: 'When a scheduled task or an automation runs next.',
  fields: (t) => ({
    at: t.expose('at', { type: 'EpochMs' }),
    name: t.exposeString('name'),
    projectId: t.exposeString('projectId'),
    scheduledTaskId: t.exposeString('scheduledTaskId', { nullable: true }),
    automationId: t.exposeString('automationId', { nullable: true }),
    project: t.byId(ProjectType, 'projectId', { link: 'projects:read' }),
  }),
});

const UpcomingOccurrenceList = builder.objectRef<{ data: Occurrence[] }>('UpcomingOccurrenceList').implement({
  fields: (t) => ({ data: t.expose('data', { type: [UpcomingOccurrence] }) }),
});

builder.queryField('upcomingOccurrences', (t) =>
  t.field({
    description: 'The next occurrence of each scheduled task and automation, soonest first; of one project, or of all.',
    scope: 'scheduled-tasks:read',
    type: UpcomingOccurrenceList,
    args: {
      projectId: t.arg.string(filter),
      limit: t.arg.int({
        required: true,
        defaultValue: upcomingShown.default,
        description: `${upcomingShown.min} to ${upcomingShown.max}.`,
        validate: { schema: z.int().min(upcomingShown.min).max(upcomingShown.max) },
      }),
    },
    resolve: async (_, args, { caller }) => ({ data: await upcomingOccurrences(caller, args) }),
  }),
);
