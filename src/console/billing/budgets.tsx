// Budgets of the organization, its projects and its people, with the amounts spent in the current day or month.
import {
  type BudgetPeriod,
  type BudgetSubject,
  type BudgetsQuery,
  budgetSubjects,
  budgets,
  createBudget,
  deleteBudget,
  updateBudget,
} from '../generated/documents.ts';
import { OneOf } from '../kit/choices.tsx';
import { mutate } from '../kit/client.ts';
import { EditableList, EditableRow, type EntryFormProperties } from '../kit/editable-list.tsx';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { may, org } from '../kit/page.ts';
import { Meter } from '../kit/pieces.tsx';
import { useList, useReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { usd } from './billing-words.tsx';

type Budget = BudgetsQuery['budgets']['data'][number];

export const Budgets = () => (may('orchestrator:read') ? <BudgetsCard /> : null);

function BudgetsCard() {
  const list = useList(budgets, { limit: 50 }, (data) => data.budgets);
  const mayWrite = may('orchestrator:write');
  return (
    <EditableList
      title="Budgets"
      list={list}
      mayWrite={mayWrite}
      add={{ label: 'Add budget', class: 'slim' }}
      empty="No budgets yet. A budget limits what missions of the organization, a project or a person cost each day or month. When a budget is used up, its missions wait."
      addForm={(form) => <NewBudget {...form} />}
    >
      {(budget, done) => <BudgetRow key={budget.id} budget={budget} mayWrite={mayWrite} done={done} />}
    </EditableList>
  );
}

const nameOf = ({ subject, subjectName }: Budget): string =>
  subject === 'organization' ? 'All missions' : (subjectName ?? 'Deleted');
const kinds: Record<BudgetSubject, string> = { organization: 'Organization', project: 'Project', person: 'Person' };

interface RowProperties {
  budget: Budget;
  mayWrite: boolean;
  done(words: string): void;
}

function BudgetRow({ budget, mayWrite, done }: RowProperties) {
  const { id: budgetId, subject, period, amountUsd, spentUsd, periodEnd } = budget;
  const name = `${period === 'day' ? 'daily' : 'monthly'} budget of ${subject === 'organization' ? 'the organization' : nameOf(budget)}`;
  const percent = (spentUsd / amountUsd) * 100;
  return (
    <EditableRow
      name={name}
      mayWrite={mayWrite}
      question="The budget no longer limits missions, and missions that wait for it continue."
      remove={async (key) => {
        await mutate(deleteBudget, { budgetId }, key);
        done(`Deleted the ${name}.`);
      }}
      done={done}
      changeForm={(form) => <ChangeBudget budget={budget} name={name} {...form} />}
    >
      <div class="grow">
        <strong class="break">
          <bdi>{nameOf(budget)}</bdi>
        </strong>{' '}
        <span class="tag">{kinds[subject]}</span>
        <div class="small">
          {usd(spentUsd)} of {usd(amountUsd)} {period === 'day' ? 'today' : 'this month'}
        </div>
        <Meter
          value={percent}
          label={`Share of the ${name} that is spent`}
          tone={percent >= 100 ? 'bad' : percent >= 80 ? 'warn' : ''}
        />
        <div class="muted small">
          Resets <Time at={periodEnd} />
        </div>
      </div>
    </EditableRow>
  );
}

const amountField = {
  label: 'US dollars',
  type: 'number',
  step: '0.01',
  min: 0.01,
  max: 1_000_000,
  required: true,
} as const;

function ChangeBudget({ budget, name, done, cancel }: EntryFormProperties & { budget: Budget; name: string }) {
  const form = useForm({
    name: `budget ${budget.id}`,
    prefix: `${budget.id}-`,
    initial: { amountUsd: String(budget.amountUsd) },
    async send({ amountUsd }, key) {
      await mutate(updateBudget, { budgetId: budget.id, amountUsd: Number(amountUsd) }, key);
      done(`Changed the ${name}.`);
    },
  });
  return (
    <FormFrame form={form} action="Save" close={cancel}>
      <Text form={form} name="amountUsd" {...amountField} />
    </FormFrame>
  );
}

const subjects = [
  ['organization', 'All missions of the organization'],
  ['project', 'Missions of a project'],
  ['person', 'Missions that a person starts or schedules'],
] as const;
const periods = [
  ['month', 'Each month, UTC'],
  ['day', 'Each day, UTC'],
] as const;

function NewBudget({ done, cancel }: EntryFormProperties) {
  const { data } = useReading(budgetSubjects, { orgId: org });
  const form = useForm({
    name: 'new budget',
    prefix: 'new-budget-',
    initial: { subject: 'organization', projectId: '', userId: '', period: 'month', amountUsd: '' },
    async send({ subject, projectId, userId, period, amountUsd }, key) {
      const input = {
        subject: subject as BudgetSubject,
        ...(subject === 'project' && { projectId }),
        ...(subject === 'person' && { userId }),
        period: period as BudgetPeriod,
        amountUsd: Number(amountUsd),
      };
      await mutate(createBudget, { input }, key);
      done('Added a budget.');
    },
  });
  const { subject } = form.values;
  const projects = data?.projects.data.map(({ id, name }) => [id, name] as const) ?? [];
  const people = data?.memberships.memberships.map(({ userId, person }) => [userId, person?.name ?? userId] as const);
  return (
    <FormFrame form={form} action="Add" close={cancel}>
      <OneOf form={form} name="subject" label="Applies to" options={subjects} />
      {subject === 'project' && <Choice form={form} name="projectId" label="Project" options={projects} />}
      {subject === 'person' && <Choice form={form} name="userId" label="Person" options={people ?? []} />}
      <OneOf form={form} name="period" label="Period" options={periods} />
      <Text form={form} name="amountUsd" {...amountField} />
    </FormFrame>
  );
}
