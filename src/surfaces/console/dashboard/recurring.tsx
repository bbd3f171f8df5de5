// Missions that return, of one kind: when they run next, and a button that does not wait for it.
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { may, pageAt } from './page.ts';
import { Action, Card, ListView, Skeleton } from './pieces.tsx';
import { useBeat, useList } from './reading.ts';
import { type Kind, runNow } from './recurring-kinds.ts';
import { scheduleWords, Time } from './words.tsx';

interface RecurringProperties {
  kind: Kind;
  projectId: string;
  empty: ComponentChildren;
}

export function Recurring({ kind, projectId, empty }: RecurringProperties) {
  const list = useList(
    kind.list,
    { projectId, limit: 20 },
    (data) => data.page,
    (one) => one.id,
  );
  const { route } = useLocation();
  useBeat(list.read);
  return (
    <Card
      title={`${kind.title}s`}
      aside={may(kind.writes) && <a href={`${kind.base}/new?projectId=${projectId}`}>Create {kind.one}</a>}
    >
      <ListView list={list} skeleton={<Skeleton rows={2} height={64} />} empty={empty}>
        {(rows) => (
          <ul class="rows">
            {rows.map(({ id, name, triggers, enabled, agentId, agent, nextRunAt, lastRunAt }) => (
              <li key={id} class="task-row">
                <div class="grow">
                  <a class="row-link" href={`${kind.base}/${id}`}>
                    {name}
                  </a>
                  <div class="muted small">
                    {scheduleWords(triggers)}
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
                      <span class="muted">Disabled</span>
                    )}
                  </div>
                  <div class="muted">
                    {lastRunAt === null ? (
                      'Never ran'
                    ) : (
                      <>
                        Last <Time at={lastRunAt} />
                      </>
                    )}
                  </div>
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
        )}
      </ListView>
    </Card>
  );
}
