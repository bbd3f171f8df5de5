// How a run is: its status, what it has cost, how long it took, and what it belongs to.
import type { RunPartsFragment } from './documents.ts';
import { pageAt } from './page.ts';
import { Meter, Pill } from './pieces.tsx';
import { dollars, Lasted, Time } from './words.tsx';

/** Whether it is being dispatched or is running. */
export const isOpen = ({ status }: RunPartsFragment) => status === 'running' || status === 'dispatching';

function activityOf({ missionActivity, awaitsApproval, status }: RunPartsFragment): string {
  if (awaitsApproval) return 'The plan waits for approval';
  return missionActivity ?? (status === 'dispatching' ? 'Waiting for a runtime' : '');
}

export function Facts({ run }: { run: RunPartsFragment }) {
  const by = run.scheduledTask ?? run.automation;
  return (
    <>
      <div class="status-line" aria-live="polite">
        <Pill status={run.interruptedAt === null ? run.status : 'interrupted'} />
        <span class="grow">{activityOf(run)}</span>
        {run.missionProgress !== null && <strong>{run.missionProgress} %</strong>}
      </div>
      <Meter value={run.missionProgress ?? 0} label="Progress" tone={run.status === 'failed' ? 'bad' : ''} />
      {(run.reason || run.lastError) && (
        <p class={isOpen(run) ? 'note' : 'note error'}>{run.reason ?? run.lastError}</p>
      )}
      <dl class="figures">
        <div>
          <dt>Cost</dt>
          <dd>
            {dollars(run.missionCostUsd)}
            {run.missionCostIncomplete && <span class="muted small"> at least</span>}
          </dd>
        </div>
        <div>
          <dt>Lasted</dt>
          <dd>
            <Lasted from={run.startedAt} to={isOpen(run) ? null : run.finishedAt} />
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={run.startedAt ?? run.createdAt} />{' '}
            <span class="muted small">{run.kind === 'manual' ? 'by hand' : 'by schedule'}</span>
          </dd>
        </div>
        <div>
          <dt>Project</dt>
          <dd>
            <a href={pageAt(`/projects/${run.projectId}`)}>{run.project?.name ?? run.projectId}</a>
          </dd>
        </div>
        {by && (
          <div>
            <dt>{run.scheduledTask ? 'Scheduled task' : 'Automation'}</dt>
            <dd>
              <a
                href={
                  run.scheduledTaskId
                    ? pageAt(`/tasks/${run.scheduledTaskId}`)
                    : pageAt(`/automations/${run.automationId}`)
                }
              >
                {by.name}
              </a>
            </dd>
          </div>
        )}
        {run.continuesStep && (
          <div>
            <dt>Continues</dt>
            <dd>
              <a href={pageAt(`/runs/${run.continuesStep.runId}`)}>step {run.continuesStep.seq + 1} of another run</a>
            </dd>
          </div>
        )}
        {run.prUrl && (
          <div>
            <dt>Pull request</dt>
            <dd>
              <a href={run.prUrl}>#{run.prNumber}</a>
            </dd>
          </div>
        )}
        <div>
          <dt>Issue</dt>
          <dd>
            {run.issueUrl ? <a href={run.issueUrl}>{run.issue?.key ?? 'In the tracker'}</a> : (run.issueId ?? '–')}
          </dd>
        </div>
      </dl>
    </>
  );
}
