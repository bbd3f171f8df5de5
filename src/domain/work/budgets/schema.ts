// Budgets of organizations, projects and people in all APIs.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { pathId, request } from '#graph/input.ts';
import { epochMs, float, members, string, stringOrNull, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { budgetUsd } from './bounds.ts';
import { Budget, budgetPeriods, budgetSubjects } from './model.ts';
import * as operations from './operations.ts';
import { budgetUses, presentPeriod } from './spending.ts';

const BudgetSubject = wordSet('BudgetSubject', budgetSubjects, 'The missions that a budget covers.', {
  organization: 'All missions of the organization.',
  project: 'The missions of one project.',
  person: 'The missions that one person started or last scheduled.',
});
const BudgetPeriod = wordSet('BudgetPeriod', budgetPeriods, 'The period of a budget.', {
  day: 'Each UTC day.',
  month: 'Each calendar month, UTC.',
});

const useOf = toOne(budgetUses, ({ id }) => id);

const BudgetType = builder.modelType(Budget, 'Budget').implement({
  description: 'The most that the missions of an organization, a project or a person may cost in a day or month.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `bud_`.'),
      orgId: string('The organization of the budget.'),
      subject: typed(BudgetSubject.type, 'The missions that the budget covers.'),
      projectId: stringOrNull('The project, if the subject is `project`; null otherwise.'),
      userId: stringOrNull('The person, if the subject is `person`; null otherwise.'),
      subjectName: t.string({
        nullable: true,
        description: 'Name of the project or person; null with the subject `organization`.',
        resolve: async ({ id }, _, context) => (await useOf(context).load(id))?.name ?? null,
      }),
      period: typed(BudgetPeriod.type, 'The period that the amount applies to.'),
      amountUsd: float('The amount in US dollars for each period.'),
      spentUsd: t.float({
        description: 'Cost of the missions that the budget covers, in the current period, US dollars.',
        resolve: async ({ id }, _, context) => (await useOf(context).load(id))?.spentUsd ?? 0,
      }),
      periodStart: t.field({
        type: 'EpochMs',
        description: 'When the current period began.',
        resolve: ({ period }) => presentPeriod(period).start,
      }),
      periodEnd: t.field({
        type: 'EpochMs',
        description: 'When the next period begins.',
        resolve: ({ period }) => presentPeriod(period).end,
      }),
      createdAt: epochMs('When the budget was created.'),
      updatedAt: epochMs('When the budget was last changed.'),
    }),
});
const BudgetPage = pageOf('BudgetPage', BudgetType);
const DeleteBudgetResponse = okIdAnswer('DeleteBudgetResponse');

const amountUsd = z
  .number()
  .min(budgetUsd.min)
  .max(budgetUsd.max)
  .describe(`US dollars in each period: ${budgetUsd.min} to ${budgetUsd.max}, rounded to a hundredth of a cent.`);
const CreateBudgetRequest = request(
  'CreateBudgetRequest',
  z
    .object({
      subject: BudgetSubject.zod.describe('The missions that the budget covers.'),
      projectId: boundedText(text.pathId).nullish().describe('Required with the subject `project`.'),
      userId: boundedText(text.pathId).nullish().describe('A member; required with the subject `person`.'),
      period: BudgetPeriod.zod.describe('The period that the amount applies to.'),
      amountUsd,
    })
    .meta({
      description: 'A new budget. A subject has at most one budget for each period.',
      examples: [{ subject: 'organization', period: 'month', amountUsd: 500 }],
    }),
);
const UpdateBudgetRequest = request(
  'UpdateBudgetRequest',
  z
    .object({ amountUsd: amountUsd.optional() })
    .meta({ description: 'Omitted members stay unchanged.', examples: [{ amountUsd: 750 }] }),
);

builder.queryFields((t) => ({
  budgets: t.field({
    description: 'The budgets of the organization, its projects and its people, newest first.',
    scope: 'orchestrator:read',
    rest: 'GET /budgets',
    tool: 'list_budgets',
    type: BudgetPage,
    args: pageArguments(pages.other),
    resolve: (_, args, { caller }) => operations.listBudgets(caller, args),
  }),
  budget: t.field({
    description: 'A budget by its id.',
    scope: 'orchestrator:read',
    rest: 'GET /budgets/{budgetId}',
    type: BudgetType,
    args: { budgetId: t.arg.string(pathId) },
    resolve: (_, { budgetId }, { caller }) => operations.findBudget(caller, budgetId),
  }),
}));

builder.mutationFields((t) => ({
  createBudget: t.field({
    description:
      'Creates a budget. Earlier costs of the current period count too. A mission whose next model call would exceed the budget waits until ' +
      'somebody raises the budget or the next period begins, and no mission starts once the budget is used up.',
    scope: 'orchestrator:write',
    rest: { route: 'POST /budgets', status: 201, errors: [404, 409] },
    tool: 'create_budget',
    type: BudgetType,
    args: { input: t.arg({ type: CreateBudgetRequest, required: true, description: 'The new budget.' }) },
    resolve: (_, { input }, { caller }) => operations.createBudget(caller, input),
  }),
  updateBudget: t.field({
    description: 'Changes the amount of a budget. The new amount already applies to the current period.',
    scope: 'orchestrator:write',
    rest: 'PATCH /budgets/{budgetId}',
    tool: { name: 'update_budget', idempotent: true },
    type: BudgetType,
    args: {
      budgetId: t.arg.string(pathId),
      input: t.arg({ type: UpdateBudgetRequest, required: true, description: 'The fields to change.' }),
    },
    resolve: (_, { budgetId, input }, { caller }) => operations.updateBudget(caller, budgetId, input),
  }),
  deleteBudget: t.field({
    description: 'Deletes a budget: missions that wait for it continue.',
    scope: 'orchestrator:write',
    rest: 'DELETE /budgets/{budgetId}',
    tool: { name: 'delete_budget', destructive: true, idempotent: true },
    type: DeleteBudgetResponse,
    args: { budgetId: t.arg.string(pathId) },
    resolve: (_, { budgetId }, { caller }) => operations.deleteBudget(caller, budgetId),
  }),
}));
