// Budgets of organization, projects and people: list, set, delete.
import type { Budget, Client } from '../../../typescript/src/exports.ts';
import { paint, printJson, printLine, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';
import { findProject } from './projects.ts';

const dollars = (usd: number): string => `${usd.toFixed(2)} USD`;
const nameOf = ({ subject, subjectName }: Budget): string => subjectName ?? subject;

export async function list(options: CommonOptions & { limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const budgets = await client.budgets({ limit: Math.min(options.limit, 100) }).take(options.limit);
  if (options.json) return printJson(budgets);
  printTable(budgets, {
    id: ({ id }) => id,
    subject: ({ subject }) => subject,
    of: nameOf,
    each: ({ period }) => period,
    amount: ({ amountUsd }) => dollars(amountUsd),
    spent: ({ spentUsd }) => dollars(spentUsd),
    until: ({ periodEnd }) => timeOf(periodEnd),
  });
}

interface SetOptions extends CommonOptions {
  each: Budget['period'];
  project?: string;
  person?: string;
}

async function subjectOf(client: Client, { project, person }: SetOptions) {
  if (project && person) throw new UserError('Choose --project or --person, not both.');
  if (project) return { subject: 'project' as const, projectId: (await findProject(client, project)).id };
  if (!person) return { subject: 'organization' as const };
  const userId = person === 'me' ? (await client.me()).userId : person;
  if (!userId) throw new UserError('This credential does not belong to a person: name one by id, such as usr_….');
  return { subject: 'person' as const, userId };
}

async function findBudget(client: Client, wanted: Partial<Budget>): Promise<Budget | undefined> {
  const same = (budget: Budget) =>
    (Object.keys(wanted) as (keyof Budget)[]).every((key) => budget[key] === wanted[key]);
  for await (const budget of client.budgets({ limit: 100 })) if (same(budget)) return budget;
  return undefined;
}

/** Creates the budget, or changes its amount. */
export async function set(options: SetOptions, amountUsd: number): Promise<void> {
  const client = await openClient(options.url);
  const wanted = { ...(await subjectOf(client, options)), period: options.each };
  const before = await findBudget(client, wanted);
  const budget = before
    ? await client.updateBudget({ budgetId: before.id, amountUsd })
    : await client.createBudget({ ...wanted, amountUsd });
  if (options.json) return printJson(budget);
  const spent = `${dollars(budget.spentUsd)} have been spent so far`;
  printLine(
    `Missions of ${paint('bold', nameOf(budget))} may cost ${dollars(amountUsd)} each ${budget.period}; ${spent}.`,
  );
}

export async function remove(options: CommonOptions, budgetId: string): Promise<void> {
  const answer = await (await openClient(options.url)).deleteBudget({ budgetId });
  if (options.json) printJson(answer);
  else printLine(`Deleted ${paint('bold', budgetId)}.`);
}
