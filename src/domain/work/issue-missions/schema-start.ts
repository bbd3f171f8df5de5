// Starting missions on several issues at once.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { missionLimitArguments } from '../../projects/sandbox-templates/schema-limits.ts';
import { mission } from '../runs/bounds.ts';
import { RunType } from '../runs/schema.ts';
import { maxIssuesAtOnce } from './bounds.ts';
import { type StartOnIssue, startMissions } from './start-several.ts';

const StartOnIssueType = builder.objectRef<StartOnIssue>('StartOnIssue').implement({
  description: 'The mission that was started on one issue, or the reason why it could not start.',
  fields: (t) =>
    members(t, {
      projectId: string('The project of the issue; starts with `prj_`.'),
      issue: string('The issue, as the request names it.'),
      runId: stringOrNull('The started run; null when it could not start.'),
      reason: stringOrNull('Explanation for people why the mission could not start; null for a started run.'),
      run: t.byId(RunType, 'runId', { link: 'missions:read', description: 'The started run.' }),
    }),
});

const StartsOnIssues = builder.objectRef<{ starts: StartOnIssue[] }>('StartMissionsResponse').implement({
  description: 'The result of starting one mission on each of several issues.',
  fields: (t) =>
    members(t, { starts: typed([StartOnIssueType], 'One entry for each issue, in the order of the request.') }),
});

const reference = boundedText(text.pathId);
const limit = (name: keyof typeof missionLimitArguments) =>
  missionLimitArguments[name].validate.schema.nullish().describe(missionLimitArguments[name].description);

const StartMissionsRequest = request(
  'StartMissionsRequest',
  z
    .object({
      issues: z
        .array(
          z
            .object({
              projectId: reference.describe('The project whose tracker has the issue.'),
              issue: reference.describe('The issue by its id or name: `WEB-12`, or `#12` on GitHub.'),
            })
            .describe('An issue to start a mission on.'),
        )
        .min(1)
        .max(maxIssuesAtOnce)
        .describe(`The issues, 1 to ${maxIssuesAtOnce}.`),
      prompt: boundedText(text.prompt)
        .nullish()
        .describe(
          'The task for each issue, in addition to the issue’s text. If the prompt is absent, the task is to solve the issue.',
        ),
      agentId: reference
        .nullish()
        .describe('The only agent that may work on the missions. Absent means any agent that has a model.'),
      planApproval: z
        .boolean()
        .nullish()
        .describe('Whether a person must approve each plan. Absent means the setting of the orchestrator.'),
      budgetUsd: z
        .number()
        .min(mission.budgetUsd.min)
        .max(mission.budgetUsd.max)
        .nullish()
        .describe('Budget of each mission in US dollars, 0.01 to 10,000. Absent means that only the credits limit it.'),
      instanceType: InstanceType.zod
        .nullish()
        .describe(
          'CPUs, memory and disk of each mission. Absent means the instance type in the sandbox template of the mission.',
        ),
      maxMinutes: limit('maxMinutes'),
      maxModelCalls: limit('maxModelCalls'),
      maxTokens: limit('maxTokens'),
    })
    .meta({
      description: 'Missions on several issues, with the same settings.',
      examples: [{ issues: [{ projectId: 'prj_0193f0c2', issue: 'WEB-12' }], budgetUsd: 5 }],
    }),
);

builder.mutationField('startMissions', (t) =>
  t.field({
    description:
      'Starts a mission on each of several issues. The missions are billed to you. An issue on which a mission is already working gets no second one. If a mission cannot start, the answer contains the reason, and the other missions still start.',
    scope: 'missions:run',
    complexity: 200,
    tool: { name: 'start_missions', openWorld: true },
    type: StartsOnIssues,
    args: { input: t.arg({ type: StartMissionsRequest, required: true, description: 'The issues and settings.' }) },
    resolve: async (_, { input }, { caller }) => ({ starts: await startMissions(caller, input) }),
  }),
);
