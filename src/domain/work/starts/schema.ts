// GraphQL mutations that start missions without a schedule.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { missionLimitArguments } from '../../projects/sandbox-templates/schema-limits.ts';
import { attemptBounds } from '../attempts/bounds.ts';
import { RunType } from '../runs/schema.ts';
import { missionBudget } from '../runs/schema-common.ts';
import * as operations from './operations.ts';

const { maxMinutes, maxModelCalls, maxTokens } = missionLimitArguments;
const reference = { validate: { schema: boundedText(text.pathId) } } as const;

const NewAttempt = request(
  'NewAttempt',
  z
    .object({
      agentId: boundedText(text.pathId)
        .nullish()
        .describe('The agent that works on the attempt; absent means the agent of the mission.'),
      model: boundedText(text.modelId)
        .nullish()
        .describe('A model that the agent uses in place of its own, and that its harness runs; requires an agent.'),
      prompt: boundedText(text.prompt)
        .nullish()
        .describe('The task of this attempt; absent means the task of the mission.'),
    })
    .describe('One of several attempts at a mission. Equal attempts are allowed: models answer differently each time.'),
);

builder.mutationField('startMission', (t) =>
  t.field({
    description:
      'Starts a mission in a project, without a scheduled task or an automation. If the tracker fails, the issue of the mission ' +
      'is created later.',
    scope: 'missions:run',
    rest: {
      route: 'POST /runs',
      without: ['attempts'],
      body: 'StartMissionRequest',
      status: 201,
      errors: [402, 404, 502],
    },
    tool: { name: 'start_mission', openWorld: true, startsRun: true },
    type: RunType,
    args: {
      projectId: t.arg.string({ ...pathId, description: 'The project in whose repository the mission works.' }),
      prompt: t.arg.string({
        required: true,
        description: `The task for the agent: 1 to ${text.prompt.max} characters.`,
        validate: { schema: boundedText(text.prompt) },
      }),
      agentId: t.arg.string({
        ...reference,
        description:
          'The only agent that may work on the mission. Absent means any agent that has a model; if there is none, the response is a ' +
          '409. An agent with the harness `shell`, ' +
          'such as `agn_builtin_shell`, runs the prompt as a POSIX shell script.',
      }),
      issue: t.arg.string({
        ...reference,
        description:
          'An issue of the project’s tracker to work on, by its id or name: `WEB-12`, or `#12` on GitHub. Absent means that one is ' +
          'created.',
      }),
      planApproval: t.arg.boolean({
        description:
          'Whether a person must approve the plan of the mission, if it has one. Absent means the setting of the orchestrator.',
      }),
      budgetUsd: t.arg.float(missionBudget),
      instanceType: t.arg({
        type: InstanceType.type,
        description:
          'The instance type of the mission: its CPUs, memory and disk. The mission waits until a runtime has room for them. Absent means ' +
          'the instance type in its sandbox template.',
      }),
      attempts: t.arg({
        type: [NewAttempt],
        description:
          `Starts ${attemptBounds.perTask.min} to ${attemptBounds.perTask.max} attempts at the task at once, each on a branch of its own, of which a person chooses one ` +
          '(`chooseAttempt`); the answer is the run of the first. The budget covers all of them together, and only the chosen one opens a ' +
          'pull request. Absent means one run.',
        validate: { schema: z.array(z.any()).min(attemptBounds.perTask.min).max(attemptBounds.perTask.max) },
      }),
      maxMinutes: t.arg.int(maxMinutes),
      maxModelCalls: t.arg.int(maxModelCalls),
      maxTokens: t.arg.int(maxTokens),
    },
    resolve: (_, args, { caller }) => operations.startMission(caller, args),
  }),
);
