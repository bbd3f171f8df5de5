// Operations on budgets: list, create, change the amount, delete. Budgets belong to the whole organization, so a
// project-bound credential cannot reach them.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { lockMembership } from '../../organization/memberships/operations.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { lockProjectOf } from '../../projects/projects/operations.ts';
import { maxBudgets } from './bounds.ts';
import { Budget, type BudgetPeriod, type BudgetSubject } from './model.ts';

export const listBudgets = async (caller: Caller, page: PageRequest): Promise<Page<Budget>> =>
  Budget.page({ orgId: wholeOrganization(caller) }, page);

export const findBudget = async (caller: Caller, budgetId: string): Promise<Budget> =>
  Budget.get({ id: budgetId as Budget['id'], orgId: wholeOrganization(caller) });

export interface NewBudget {
  subject: BudgetSubject;
  projectId?: string | null | undefined;
  userId?: string | null | undefined;
  period: BudgetPeriod;
  amountUsd: number;
}

/**
 * Creates a budget. @throws 400 for a subject that the kind of budget does not allow, 404 for an unknown project or member, 409 for a
 * subject and period that already have a budget
 */
export async function createBudget(caller: Caller, input: NewBudget): Promise<Budget> {
  const orgId = wholeOrganization(caller);
  const { subject, period, amountUsd } = input;
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const owner = await lockSubject(trx, orgId, input);
    if ((await Budget.query(trx).where({ orgId }).resultSize()) >= maxBudgets) {
      throw conflict(`An organization can have at most ${maxBudgets} budgets.`);
    }
    const [id, at] = [newId('budget'), now()];
    const budget = { id, orgId, ...owner, period, amountUsd, createdAt: at, updatedAt: at };
    await Budget.insert(trx, budget).catch((error) => {
      if (!isUniqueViolation(error, 'budgets_subject')) throw error;
      throw conflict.field('period', 'already has a budget for this subject: change its amount, or delete it');
    });
    return { ...budget, subject };
  });
}

/** Resolves the project or person of the budget, and locks it against deletion. */
async function lockSubject(
  trx: Transaction,
  orgId: Budget['orgId'],
  { subject, projectId, userId }: NewBudget,
): Promise<Pick<Budget, 'projectId' | 'userId'>> {
  for (const [name, value, owner] of [
    ['projectId', projectId, 'project'],
    ['userId', userId, 'person'],
  ] as const) {
    if (subject === owner && value == null) throw invalid.field(name, `is required with the subject ${subject}`);
    if (subject !== owner && value != null)
      throw invalid.field(name, `belongs to the subject ${owner}, not to ${subject}`);
  }
  if (subject === 'organization') return { projectId: null, userId: null };
  if (subject === 'project') return { projectId: await lockProjectOf(trx, orgId, projectId!), userId: null };
  const member = await lockMembership(trx, orgId, userId!);
  if (!member) throw notFound('member');
  return { projectId: null, userId: member.userId };
}

/** The change of the amount takes effect within a minute on missions that wait for the budget. */
export function updateBudget(
  caller: Caller,
  budgetId: string,
  { amountUsd }: { amountUsd?: number | undefined },
): Promise<Budget> {
  const where = { id: budgetId as Budget['id'], orgId: wholeOrganization(caller) };
  return transaction(async (trx) => {
    const budget = await Budget.lock(trx, where);
    if (!budget) return Budget.refuse();
    if (amountUsd !== undefined) {
      await Budget.patch(trx, { id: budget.id }, { amountUsd, updatedAt: nowAfter(budget.updatedAt) });
    }
    return (await Budget.find({ id: budget.id }, trx))!;
  });
}

export async function deleteBudget(caller: Caller, budgetId: string): Promise<{ ok: true; id: string }> {
  const deleted = await Budget.query()
    .delete()
    .where({ id: budgetId, orgId: wholeOrganization(caller) });
  return deleted ? { ok: true, id: budgetId } : Budget.refuse();
}
