// The pull request loop of a project as a GraphQL field and a tool: within limits, feedback on a pull request continues its mission.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { floatOrNull, int, members } from '#graph/members.ts';
import { range } from '#graph/validation.ts';
import { defaultLoop, loopBounds, type PullRequestLoop } from './model.ts';
import { updateProject } from './operations.ts';
import { ProjectType } from './schema.ts';

const words = {
  rounds: 'Maximum number of times that events of a pull request continue its mission; with 0, they never do.',
  hours:
    'Number of hours after the start of the mission during which events of a pull request can continue the mission.',
  costUsd:
    'Total cost of all missions of a pull request, in US dollars. When this cost is reached, events of the pull request no longer continue the mission',
};

const PullRequestLoopType = builder.objectRef<PullRequestLoop>('PullRequestLoop').implement({
  description:
    'Limits within which reviews, mentions, failed checks and conflicts of a pull request continue its mission.',
  fields: (t) =>
    members(t, {
      rounds: int(words.rounds),
      hours: int(words.hours),
      costUsd: floatOrNull(`${words.costUsd}. Null means no limit.`),
    }),
});

builder.objectField(ProjectType, 'pullRequestLoop', (t) =>
  t.field({
    type: PullRequestLoopType,
    graphOnly: true,
    description: 'Limits within which pull requests continue their missions.',
    resolve: ({ pullRequestLoop }) => pullRequestLoop ?? defaultLoop,
  }),
);

const whole = (bound: { min: number; max: number }) => z.int().min(bound.min).max(bound.max);

builder.mutationFields((t) => ({
  setPullRequestLoop: t.field({
    description:
      'Sets the limits within which reviews, mentions, failed checks and conflicts of a pull request continue its mission. ' +
      'Beyond these limits, such events wait for an approval.',
    scope: 'projects:write',
    tool: { name: 'set_pull_request_loop', idempotent: true },
    type: ProjectType,
    args: {
      projectId: t.arg.string(pathId),
      rounds: t.arg.int({
        required: true,
        description: `${words.rounds} Allowed: ${range(loopBounds.rounds)}.`,
        validate: { schema: whole(loopBounds.rounds) },
      }),
      hours: t.arg.int({
        required: true,
        description: `${words.hours} Allowed: ${range(loopBounds.hours)}.`,
        validate: { schema: whole(loopBounds.hours) },
      }),
      costUsd: t.arg.float({
        description: `${words.costUsd}. Allowed: ${range(loopBounds.costUsd)}. Absent means no limit.`,
        validate: { schema: z.number().min(loopBounds.costUsd.min).max(loopBounds.costUsd.max) },
      }),
    },
    resolve: (_, { projectId, rounds, hours, costUsd = null }, { caller }) =>
      updateProject(caller, projectId, { pullRequestLoop: { rounds, hours, costUsd } }),
  }),
}));
