// The pages of scheduled tasks and automations: create one from a template or a copy, change it, run it, pause it, delete it.
import { useLocation } from 'preact-iso';
import { HistoryLink } from '../audit/history-link.tsx';
import type { TaskPartsFragment } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { DeleteRecord } from '../kit/delete-record.tsx';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Loaded, Pill, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { Time } from '../kit/words.tsx';
import { RecurringFields, TimesIn } from './recurring-form.tsx';
import { type Kind, kinds, runNow } from './recurring-kinds.ts';
import {
  emptyRecurring,
  type RecurringValues,
  recurringInput,
  recurringLabels,
  recurringValues,
} from './recurring-values.ts';

const NewOf = (kind: Kind) => () => {
  const { from, projectId = '' } = useLocation().query;
  return (
    <>
      <Heading title={`Create ${article(kind.one)}`} above={[[pageAt('/projects'), 'Projects']]} />
      {from ? (
        <Copy key={from} kind={kind} id={from} />
      ) : (
        <Creation key={projectId} kind={kind} initial={emptyRecurring(projectId)} />
      )}
    </>
  );
};

function Copy({ kind, id }: { kind: Kind; id: string }) {
  const { data, problem, read } = useReading(kind.read, { id });
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  if (!data) return <Skeleton rows={5} height={72} />;
  return <Creation kind={kind} initial={{ ...recurringValues(data.one), name: '' }} isCopy />;
}

const article = (one: string): string => `${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one}`;

interface CreationProperties {
  kind: Kind;
  initial: RecurringValues;
  isCopy?: boolean;
}

function Creation({ kind, initial, isCopy = false }: CreationProperties) {
  const { route } = useLocation();
  const templates = useReading(kind.templates, {}).data?.templates.data;
  const form = useForm({
    name: `${kind.one} of ${initial.projectId}${isCopy ? ', a copy' : ''}`,
    initial,
    async send(values, key) {
      const { created } = await mutate(kind.create, { input: recurringInput(values) }, key);
      route(`${kind.base}/${created.id}`);
    },
  });
  const choose = (key: string) => {
    const one = templates?.find((template) => template.key === key);
    if (!one) return form.set({ templateKey: null });
    const { suggestedSchedule: schedule } = one;
    const triggers = [{ ...schedule, timezone: initial.triggers[0]?.timezone ?? schedule.timezone }];
    form.set({ templateKey: one.key, name: one.name, prompt: one.prompt, agentId: one.agentId ?? '', triggers });
  };
  return (
    <Card title={kind.title}>
      <div class="fields">
        <div class="field">
          <label for="template">Template</label>
          <select
            id="template"
            value={form.values.templateKey ?? ''}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            <option value="">None</option>
            {templates?.map(({ key, name, blurb }) => (
              <option key={key} value={key}>
                {name}: {blurb}
              </option>
            ))}
          </select>
        </div>
      </div>
      <FormFrame form={form} action={`Create ${kind.one}`} cancel={pageAt(`/projects/${initial.projectId}`)}>
        <RecurringFields form={form} />
      </FormFrame>
    </Card>
  );
}

const OneOf =
  (kind: Kind) =>
  ({ id }: { id: string }) => {
    const { data, problem, read } = useReading(kind.read, { id });
    const one = data?.one;
    return (
      <>
        <Heading
          title={one?.name ?? null}
          above={[
            [pageAt('/projects'), 'Projects'],
            ...(one?.project ? [[pageAt(`/projects/${one.projectId}`), one.project.name] as [string, string]] : []),
          ]}
        >
          {one && <HistoryLink id={one.id} />}
          {one && <Actions kind={kind} one={one} read={read} />}
        </Heading>
        <Loaded value={one} problem={problem} retry={read} rows={4} height={96}>
          {(one) => (
            <div class="columns">
              <Edit kind={kind} one={one} read={read} />
              <div class="column">
                <Card title="Next missions">
                  {one.enabled && one.upcoming.length > 0 ? (
                    <TimesIn times={one.upcoming} schedules={one.triggers.map(({ schedule }) => schedule)} />
                  ) : (
                    <Empty>{one.enabled ? 'Missions start on events.' : 'The schedule is paused.'}</Empty>
                  )}
                </Card>
                <Runs kind={kind} id={id} />
              </div>
            </div>
          )}
        </Loaded>
      </>
    );
  };

interface Properties {
  kind: Kind;
  one: TaskPartsFragment;
  read(): void;
}

function Actions({ kind, one: { id, enabled, name }, read }: Properties) {
  const { route } = useLocation();
  const mayWrite = may(kind.writes);
  return (
    <>
      {may('missions:run') && (
        <Action
          label="Run now"
          class="slim"
          act={async (key) => route(pageAt(`/runs/${await runNow(kind, id, key)}`))}
        />
      )}
      {mayWrite && (
        <>
          <Action
            label={enabled ? 'Pause' : 'Resume'}
            act={(key) => mutate(kind.update, { id, input: { enabled: !enabled } }, key).then(read)}
          />
          <a class="button quiet slim" href={`${kind.base}/new?from=${id}`}>
            Duplicate
          </a>
          <DeleteRecord
            question={`“${name}” will not start new missions. Waiting missions are canceled; running ones continue.`}
            list="/schedules"
            remove={(key) => mutate(kind.remove, { id }, key)}
          />
        </>
      )}
    </>
  );
}

function Edit({ kind, one, read }: Properties) {
  const { id } = one;
  const form = useForm({
    name: `${kind.one} ${id}`,
    initial: recurringValues(one),
    async current() {
      const { one: now } = await ask(kind.read, { id });
      return [recurringValues(now), now.updatedAt];
    },
    async send(values, key, ifUpdatedAt) {
      await mutate(kind.update, { id, input: recurringInput(values), ifUpdatedAt }, key);
      read();
    },
  });
  return (
    <Card title={kind.title} aside={<Pill status={one.enabled ? 'active' : 'paused'} />}>
      <FormFrame form={form} action="Save" cancel={pageAt(`/projects/${one.projectId}`)} labels={recurringLabels}>
        <RecurringFields form={form} />
      </FormFrame>
    </Card>
  );
}

function Runs({ kind, id }: { kind: Kind; id: string }) {
  const { data, problem, read } = useReading(kind.runs, { id, limit: 10 });
  return (
    <Card title="Recent missions">
      {problem && <ErrorNote problem={problem} retry={read} />}
      {data?.runs.data.length === 0 && <Empty>No mission yet.</Empty>}
      <ul class="rows">
        {data?.runs.data.map((run) => (
          <li key={run.id} class="next-row">
            <Pill status={run.status} />
            <a class="row-link grow clip" href={pageAt(`/runs/${run.id}`)}>
              {run.missionTitle ?? 'Untitled mission'}
            </a>
            <span class="when">
              <Time at={run.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export const NewTask = NewOf(kinds.tasks);
export const NewAutomation = NewOf(kinds.automations);
export const Task = OneOf(kinds.tasks);
export const Automation = OneOf(kinds.automations);
