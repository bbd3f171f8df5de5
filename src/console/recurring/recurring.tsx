// Recurring missions in rows: the next start, the last outcome, and a button that starts a mission now.
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import type { ScheduledTasksQuery } from '../generated/documents.ts';
import { ListView } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useRefresh } from '../kit/reading.ts';
import { plural, scheduleWords, Time } from '../kit/words.tsx';
import { ruleWords } from './event-values.ts';
import { type Kind, runNow } from './recurring-kinds.ts';

type Row = ScheduledTasksQuery['page']['data'][number];

interface RecurringProperties {
  kind: Kind;
  projectId: string;
  empty: ComponentChildren;
}

/** The recurring missions of one kind in a project. */
export function Recurring({ kind, projectId, empty }: RecurringProperties) {
  const list = useRecurring(kind, projectId);
  return (
    <Card
      title={`${kind.title}s`}
      aside={may(kind.writes) && <a href={`${kind.base}/new?projectId=${projectId}`}>Create {kind.one}</a>}
    >
      <ListView list={list} skeleton={<Skeleton rows={2} height={64} />} empty={empty}>
        {(rows) => <RecurringRows rows={rows.map((row) => [kind, row] as const)} within />}
      </ListView>
    </Card>
  );
}

export function useRecurring(kind: Kind, projectId: string | null) {
  const list = useList(kind.list, { projectId, limit: 20 }, (data) => data.page);
  useRefresh(list.read);
  return list;
}

interface RowsProperties {
  rows: (readonly [Kind, Row])[];
  /** Whether the list is on the page of the project. */
  within?: boolean;
}

export function RecurringRows({ rows, within = false }: RowsProperties) {
  const { route } = useLocation();
  return (
    <ul class="rows">
      {rows.map(([kind, { id, name, triggers, eventTriggers, enabled, agentId, agent, nextRunAt, project, runs }]) => (
        <li key={id} class="task-row">
          <div class="grow">
            <a class="row-link" href={`${kind.base}/${id}`}>
              {name}
            </a>
            <div class="muted small">
              {!within && [project?.name, kind.title, ''].filter((part) => part !== undefined).join(' · ')}
              {whenWords(triggers, eventTriggers)}
              {agentId !== null && `, with ${agent?.name ?? 'an agent that was deleted'}`}
            </div>
          </div>
          <div class="small task-times">
            <div>
              {nextRunAt !== null && enabled ? (
                <>
                  Next <Time at={nextRunAt} />
                </>
              ) : (
                <Pill status={enabled ? 'active' : 'paused'} />
              )}
            </div>
            <Last run={runs[0]} />
          </div>
          {may('missions:run') && (
            <Action
              label="Run now"
              describes={`Run now: ${name}`}
              class="slim"
              act={async (key) => route(pageAt(`/runs/${await runNow(kind, id, key)}`))}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** All triggers in words, such as `Mondays 09:00, Pacific/Auckland, and when an issue gets the label agent`. */
function whenWords(triggers: Row['triggers'], [rule, ...others]: Row['eventTriggers']): string {
  if (!rule) return scheduleWords(triggers);
  const more = others.length > 0 ? `, and ${plural(others.length, 'more rule')}` : '';
  const words = ruleWords(rule) + more;
  return triggers.length > 0
    ? `${scheduleWords(triggers)}, and ${words}`
    : `${words[0]!.toUpperCase()}${words.slice(1)}`;
}

/** The newest mission and its outcome. */
const Last = ({ run }: { run: Row['runs'][number] | undefined }) =>
  run ? (
    <a class="last-run muted" href={pageAt(`/runs/${run.id}`)}>
      <Pill status={run.status} /> <Time at={run.createdAt} />
    </a>
  ) : (
    <div class="muted">No mission yet</div>
  );
