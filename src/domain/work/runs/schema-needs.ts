// Graph fields about people: the action that a run needs from a person, and its starter.
import type { Row } from '#foundation/postgres/base-model.ts';
import { builder } from '#graph/builder.ts';
import { type Context, toMany, toOne } from '#graph/context.ts';
import { epochMs, int, members, string, stringOrNull, stringsOrNull, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { parkingLimits, type Run } from './model.ts';
import { type OpenQuestion, openQuestions, type RunNeed, runNeeds } from './needs.ts';
import { type Starter, startersOf } from './operations.ts';
import { RunType } from './schema.ts';

const RunNeedWords = wordSet('RunNeed', runNeeds, 'Action that a run needs from a person.', {
  approval: 'The approval of the run’s plan.',
  answer: 'The answer to a question of the run’s agent.',
  decision: 'The decision whether the agent of the run may call a tool that needs a person.',
  budget: 'More money: the next model call of the run does not fit into the limit `parkedBy`.',
});
const ParkingLimitWords = wordSet('ParkingLimit', parkingLimits, 'A limit of money.', {
  budget: 'The budget of the mission, or the most that a mission may cost by the plan.',
  credits: 'The credits of the organization.',
  cap: 'The daily cost cap of the organization.',
  shared_budget: 'A budget of the organization, the project or the person for a day or month; `parkedReason` names it.',
});
const questionsOf = toMany<OpenQuestion>(openQuestions, ({ runId }) => runId);
const peopleWithIds = toOne<Starter>(startersOf, ({ id }) => id);

async function needOf({ id, status, awaitsApproval, parkedAt }: Row<Run>, context: Context): Promise<RunNeed | null> {
  if (awaitsApproval) return 'approval';
  if (status === 'running' && parkedAt !== null) return 'budget';
  const [question] = status === 'running' ? await questionsOf(context).load(id) : [];
  return question ? (question.tool === null ? 'answer' : 'decision') : null;
}

const RunQuestion = builder.objectRef<OpenQuestion>('RunQuestion').implement({
  description: 'A question of a run’s agent that waits for an answer.',
  fields: (t) =>
    members(t, {
      sandboxId: string('The sandbox whose agent asks, an argument of `answerElicitation`.'),
      seq: int('The position of the question among the fragments of the sandbox, an argument of `answerElicitation`.'),
      text: string('The question.', { complexity: weightOf(text.fragmentBody.max) }),
      choices: stringsOrNull('Answers that the question suggests; null for none. Any other text is an answer too.'),
      tool: stringOrNull('The tool whose call needs a person, as `server.tool`; null for a question in words.'),
      arguments: stringOrNull('The arguments of the call as JSON; null for a question in words.', {
        complexity: weightOf(text.fragmentBody.max),
      }),
      at: epochMs('When the question was asked.'),
    }),
});

builder.objectFields(RunType, (t) =>
  members(t, {
    needs: t.field({
      type: RunNeedWords.type,
      nullable: true,
      graphOnly: true,
      description: 'The action that the run waits for a person to take; null for none.',
      resolve: (run, _args, context) => needOf(run, context),
    }),
    questions: t.field({
      type: [RunQuestion],
      graphOnly: true,
      description: 'The questions of the run’s agent that wait for an answer, oldest first.',
      resolve: ({ id, status }, _args, context) => (status === 'running' ? questionsOf(context).load(id) : []),
    }),
    parkedBy: typedOrNull(
      ParkingLimitWords.type,
      'The limit that the next model call of the run does not fit into; null means the run does not wait for money.',
      { graphOnly: true },
    ),
    instanceType: typedOrNull(
      InstanceType.type,
      'The instance type that its start or, from its first claim on, its sandbox template has chosen; null: none.',
      { graphOnly: true },
    ),
    sandboxTemplateId: stringOrNull(
      'The sandbox template that the rule of its event imposes on all agents of the run and on its continuations; null: none.',
      { graphOnly: true },
    ),
    parkedReason: stringOrNull(
      'The limit, the used part of it, and the most that the next model call may cost, in one sentence; null means the run does not wait for money.',
      { graphOnly: true },
    ),
    startedBy: t.string({
      nullable: true,
      graphOnly: true,
      description:
        'The name of the person who started the run; null for a scheduled run, and once the account is deleted.',
      resolve: async ({ kind, billingActorUserId }, _args, context) =>
        kind === 'manual' && billingActorUserId
          ? ((await peopleWithIds(context).load(billingActorUserId))?.name ?? null)
          : null,
    }),
  }),
);
