// The pages of scheduled tasks and automations: create one from a template or a copy, change it, run it, pause it, delete it.
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type ProblemBody, problemOf } from './client.ts';
import type { TaskPartsFragment } from './documents.ts';
import { FormFrame } from './fields.tsx';
import { useForm } from './form.ts';
import { Heading } from './heading.tsx';
import { may } from './page.ts';
import { Action, Card, Empty, Pill, Skeleton, Trouble } from './pieces.tsx';
import { RecurringFields, TimesIn } from './recurring-form.tsx';
import { type Kind, kinds } from './recurring-kinds.ts';
import {
  emptyRecurring,
  type RecurringValues,
  recurringInput,
  recurringLabels,
  recurringValues,
} from './recurring-values.ts';
import { Time } from './words.tsx';

/** What a function reads, and the way to read it again. */
function useRead<T>(load: () => Promise<T>, key: string) {
  const [state, setState] = useState<{ data: T | null; problem: ProblemBody | null }>({ data: null, problem: null });
  const read = () => {
    load().then(
      (data) => setState({ data, problem: null }),
      (error) => setState(({ data }) => ({ data, problem: problemOf(error) })),
    );
  };
  useEffect(read, [key]);
  return { ...state, read };
}

const NewOf = (kind: Kind) => () => {
  const { query } = useLocation();
  const from = query.from ?? '';
  const { data, problem, read } = useRead(
    async () =>
      from ? { ...recurringValues(await kind.read(from)), name: '' } : emptyRecurring(query.projectId ?? ''),
    from,
  );
  return (
    <>
      <Heading title={`Create ${article(kind.one)}`} above={[['/console/projects', 'Projects']]} />
      {problem && <Trouble problem={problem} retry={read} />}
      {data ? (
        <Creation kind={kind} initial={data} isCopy={from !== ''} />
      ) : (
        !problem && <Skeleton rows={5} height={72} />
      )}
    </>
  );
};

const article = (one: string): string => `${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one}`;

function Creation({ kind, initial, isCopy }: { kind: Kind; initial: RecurringValues; isCopy: boolean }) {
  const { route } = useLocation();
  const { data: templates } = useRead(kind.templates, '');
  const form = useForm({
    name: `${kind.one} of ${initial.projectId}${isCopy ? ', a copy' : ''}`,
    initial,
    async send(values, key) {
      route(`${kind.base}/${await kind.create(recurringInput(values), key)}`);
    },
  });
  const choose = (key: string) => {
    const one = templates?.find((template) => template.key === key);
    if (!one) return form.set({ templateKey: null });
    const { suggestedSchedule: schedule } = one;
    const triggers = [{ ...schedule, timezone: initial.triggers[0]?.timezone ?? schedule.timezone }];
    form.set({ templateKey: one.key, name: one.name, prompt: one.prompt, triggers });
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
      <FormFrame form={form} action={`Create ${kind.one}`} cancel={`/console/projects/${initial.projectId}`}>
        <RecurringFields form={form} />
      </FormFrame>
    </Card>
  );
}

const OneOf =
  (kind: Kind) =>
  ({ id }: { id: string }) => {
    const { data, problem, read } = useRead(() => kind.read(id), id);
    return (
      <>
        <Heading
          title={data?.name ?? null}
          above={[
            ['/console/projects', 'Projects'],
            ...(data?.project ? [[`/console/projects/${data.projectId}`, data.project.name] as [string, string]] : []),
          ]}
        >
          {data && <Actions kind={kind} one={data} read={read} />}
        </Heading>
        {problem && <Trouble problem={problem} retry={read} />}
        {data ? (
          <div class="columns">
            <div class="column">
              <Edit key={id} kind={kind} one={data} read={read} />
            </div>
            <div class="column">
              <Card title="Next runs">
                {data.enabled && data.upcoming.length > 0 ? (
                  <TimesIn times={data.upcoming} schedules={data.triggers.map(({ schedule }) => schedule)} />
                ) : (
                  <Empty>It is paused.</Empty>
                )}
              </Card>
              <Runs kind={kind} id={id} />
            </div>
          </div>
        ) : (
          !problem && <Skeleton rows={4} height={96} />
        )}
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
        <Action label="Run now" class="slim" act={async (key) => route(`/console/runs/${await kind.run(id, key)}`)} />
      )}
      {mayWrite && (
        <>
          <Action
            label={enabled ? 'Pause' : 'Resume'}
            act={(key) => kind.update(id, { enabled: !enabled }, key).then(read)}
          />
          <a class="button quiet slim" href={`${kind.base}/new?from=${id}`}>
            Duplicate
          </a>
          <Action
            label="Delete"
            class="danger slim"
            question={`“${name}” starts no mission from now on. Runs that wait are canceled; missions under way continue.`}
            act={async (key) => {
              await kind.remove(id, key);
              route('/console/projects');
            }}
          />
        </>
      )}
    </>
  );
}

function Edit({ kind, one, read }: Properties) {
  const form = useForm({
    name: `${kind.one} ${one.id}`,
    initial: recurringValues(one),
    current: async () => recurringValues(await kind.read(one.id)),
    async send(values, key) {
      await kind.update(one.id, recurringInput(values), key);
      read();
    },
  });
  return (
    <Card title={kind.title} aside={<Pill status={one.enabled ? 'active' : 'paused'} />}>
      <FormFrame form={form} action="Save" cancel={`/console/projects/${one.projectId}`} labels={recurringLabels}>
        <RecurringFields form={form} />
      </FormFrame>
    </Card>
  );
}

function Runs({ kind, id }: { kind: Kind; id: string }) {
  const { data, problem, read } = useRead(() => kind.runs(id), id);
  return (
    <Card title="Recent runs">
      {problem && <Trouble problem={problem} retry={read} />}
      {data?.length === 0 && <Empty>It has not run yet.</Empty>}
      <ul class="rows">
        {data?.map((run) => (
          <li key={run.id} class="next-row">
            <Pill status={run.status} />
            <a class="row-link grow" href={`/console/runs/${run.id}`}>
              {run.missionTitle ?? 'Untitled run'}
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
