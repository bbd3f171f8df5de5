// GraphQL fields about people: the action that a run needs from a person, and the person who started it.
import { builder } from '#graph/builder.ts';
import { type Context, toMany, toOne } from '#graph/context.ts';
import {
  epochMs,
  float,
  int,
  intOrNull,
  members,
  string,
  stringOrNull,
  stringsOrNull,
  typedOrNull,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { text } from '#limits.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { parkingLimits, type Run } from './model.ts';
import { type OpenQuestion, openQuestions, parkedNeed, type RunNeed, runNeeds } from './needs.ts';
import { type Starter, startersOf } from './operations.ts';
import { personOf } from './person.ts';
import { RunType } from './schema.ts';
import { isOpen } from './states.ts';

const RunNeedWords = wordSet('RunNeed', runNeeds, 'Action that a run needs from a person.', {
  approval: 'The approval of the run’s plan.',
  answer: 'The answer to a question of the run’s agent.',
  decision: 'The decision whether the agent of the run may make a tool call that needs approval.',
  budget: 'More money: the next model call or minute of the run would exceed the limit `parkedBy`.',
  limit: 'A higher limit of its minutes, model calls or tokens: `parkedBy` names it.',
});
const ParkingLimitWords = wordSet('ParkingLimit', parkingLimits, 'A limit that a mission has reached.', {
  budget: 'The budget of the mission, or the maximum cost of a mission in the plan.',
  credits: 'The credits of the organization.',
  cap: 'The daily cost cap of the organization.',
  shared_budget: 'A budget of the organization, the project or the person for a day or month; `parkedReason` names it.',
  time: 'The minutes of its sandbox.',
  model_calls: 'The model calls of the mission.',
  tokens: 'The tokens of the mission.',
});
const questionsOf = toMany<OpenQuestion>(openQuestions, ({ runId }) => runId);
const peopleWithIds = toOne<Starter>(startersOf, ({ id }) => id);

async function needOf(run: Run, context: Context): Promise<RunNeed | null> {
  const { id, status, awaitsApproval } = run;
  if (awaitsApproval) return 'approval';
  const parked = isOpen(run) ? parkedNeed(run) : null;
  if (parked) return parked;
  const [question] = status === 'running' ? await questionsOf(context).load(id) : [];
  return question ? (question.tool === null ? 'answer' : 'decision') : null;
}

export const RunQuestion = builder.objectRef<Omit<OpenQuestion, 'runId'>>('RunQuestion').implement({
  description: 'A question of a run’s agent that waits for an answer.',
  fields: (t) =>
    members(t, {
      sandboxId: string('The sandbox whose agent asks, an argument of `answerElicitation`.'),
      seq: int(
        'The position of the question among the fragments of the sandbox. Pass this position to `answerElicitation`.',
      ),
      text: string('The question.', { complexity: weightOf(text.fragmentBody.max) }),
      choices: stringsOrNull('Answers that the question suggests; null for none. Any other text is allowed too.'),
      tool: stringOrNull(
        'The tool whose call needs approval, as `server.tool`; null for a question that is not about a call.',
      ),
      arguments: stringOrNull('The arguments of the call as JSON; null for a question that is not about a call.', {
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
      description: 'The action of a person for which the run waits; null for none.',
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
      'The limit that the next model call or minute of the run would exceed; null while the run does not wait for a higher limit.',
      { graphOnly: true },
    ),
    instanceType: typedOrNull(
      InstanceType.type,
      'The instance type, chosen at the start or, at the first claim, by the sandbox template; null when none is chosen.',
      { graphOnly: true },
    ),
    sandboxTemplateId: stringOrNull(
      'The sandbox template that the rule of an event sets for all agents of the run and for its continuations; null without one.',
      { graphOnly: true },
    ),
    parkedReason: stringOrNull(
      'Text for people with the limit, its used part, and the maximum price of the next model call or minute; null while the run does not wait for a higher limit.',
      { graphOnly: true },
    ),
    maxMinutes: intOrNull(
      'Maximum number of minutes that the run may use its sandbox, chosen at the start or, at the first claim, by the sandbox template; null means the maximum of the installation.',
      { graphOnly: true },
    ),
    maxModelCalls: intOrNull('Maximum number of model calls of the mission, chosen like `maxMinutes`.', {
      graphOnly: true,
    }),
    maxTokens: intOrNull(
      'Maximum total number of input, output and cached tokens that the mission may use; chosen like `maxMinutes`.',
      { graphOnly: true },
    ),
    sandboxMinutes: int('Number of minutes, including the current one, in which the run has used a sandbox.', {
      graphOnly: true,
    }),
    sandboxCostUsd: float('Cost of the sandbox minutes in US dollars, a part of `missionCostUsd`.', {
      graphOnly: true,
    }),
    modelCalls: int('Model calls of the mission so far.', { graphOnly: true }),
    personId: t.string({
      nullable: true,
      graphOnly: true,
      description:
        'The person who is notified about the run: the person to whom it was handed over, or else the person to whom it is charged, who started it or last changed its schedule or rules; null for nobody.',
      resolve: personOf,
    }),
    personName: t.string({
      nullable: true,
      graphOnly: true,
      description: 'The name of the person of `personId`; null for nobody.',
      resolve: async (run, _args, context) => {
        const userId = personOf(run);
        return userId && ((await peopleWithIds(context).load(userId))?.name ?? null);
      },
    }),
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
