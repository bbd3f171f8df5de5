// Shows facts about a mission: its state, outcome, cost, duration and related records.
import type { ComponentChildren } from 'preact';
import type { RunPartsFragment } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { Meter, Pill } from '../kit/pieces.tsx';
import { dollars, Lasted, plural, Time } from '../kit/words.tsx';
import { needWords, Outcome, stateOf } from './run-state.tsx';

/** Whether the mission is being dispatched or is running. */
export const isOpen = ({ status }: RunPartsFragment) => status === 'running' || status === 'dispatching';

/** One sentence: the reason for the wait, the current activity, or the reason for the end. */
function headlineOf(run: RunPartsFragment): string {
  const { status, needs, parkedReason, missionActivity, reason, lastError } = run;
  if ((needs === 'budget' || needs === 'limit') && parkedReason) return parkedReason;
  if (run.questions[0]) return run.questions[0].text;
  if (needs) return needWords[needs];
  if (status === 'running') return missionActivity === run.missionTitle ? '' : (missionActivity ?? '');
  if (status === 'dispatching') return reason ?? missionActivity ?? 'Waiting for a runtime';
  // The reason why a mission failed usually contains the text of its error. In this case, only the reason is shown.
  if (status === 'failed') return reason?.includes(lastError ?? reason) ? reason : (lastError ?? '');
  return reason ?? '';
}

export function Facts({ run, children }: { run: RunPartsFragment; children: ComponentChildren }) {
  const headline = headlineOf(run);
  const more = [run.reason, run.lastError].find((words) => words && !headline.includes(words) && !run.needs);
  const { missionCostUsd, budgetUsd, startedBy } = run;
  return (
    <>
      <div class="status-line">
        <div class="status-words" aria-live="polite">
          <Pill status={stateOf(run)} />
          <span class="headline">{headline}</span>
        </div>
        <span class="muted small status-facts">
          {dollars(missionCostUsd)}
          {budgetUsd !== null && ` of ${dollars(budgetUsd)}`} ·{' '}
          <Lasted from={run.startedAt} to={isOpen(run) ? null : run.finishedAt} />
          {startedBy && ` · ${startedBy}`}
          {isOpen(run) && run.missionProgress !== null && ` · ${run.missionProgress} %`}
        </span>
        {children}
      </div>
      {isOpen(run) && run.missionProgress !== null && <Meter value={run.missionProgress} label="Progress" />}
      {more && <p class={run.status === 'failed' ? 'note error' : 'note'}>{more}</p>}
      <Outcome run={run} />
    </>
  );
}

/** Used part of a limit of the mission; null without such a limit. */
const ofLimit = (used: number, limit: number | null, unit: string): string =>
  limit === null ? plural(used, unit) : `${used} of ${plural(limit, unit)}`;

export function Figures({ run }: { run: RunPartsFragment }) {
  const by = run.scheduledTask ?? run.automation;
  const recurring = run.scheduledTaskId ? `/tasks/${run.scheduledTaskId}` : `/automations/${run.automationId}`;
  return (
    <dl class="figures details">
      <div>
        <dt>Cost</dt>
        <dd>
          {dollars(run.missionCostUsd)}
          {run.missionCostIncomplete && <span class="muted small"> at least</span>}
          {run.sandboxCostUsd > 0 && (
            <div class="muted small">
              Sandbox {dollars(run.sandboxCostUsd)}, models {dollars(run.missionCostUsd - run.sandboxCostUsd)}
            </div>
          )}
        </dd>
      </div>
      {run.sandboxMinutes > 0 && (
        <div>
          <dt>Sandbox</dt>
          <dd>
            {ofLimit(run.sandboxMinutes, run.maxMinutes, 'minute')}
            {run.instanceType && <span class="muted small"> {run.instanceType}</span>}
          </dd>
        </div>
      )}
      {run.modelCalls > 0 && (
        <div>
          <dt>Model calls</dt>
          <dd>{ofLimit(run.modelCalls, run.maxModelCalls, 'call')}</dd>
        </div>
      )}
      <div>
        <dt>Duration</dt>
        <dd>
          <Lasted from={run.startedAt} to={isOpen(run) ? null : run.finishedAt} />
        </dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd>
          <Time at={run.startedAt ?? run.createdAt} />
        </dd>
      </div>
      <div>
        <dt>Started by</dt>
        <dd>
          {by ? <a href={pageAt(recurring)}>{by.name}</a> : null}
          {by && run.startedBy && ', '}
          {run.startedBy ?? (by ? null : run.kind === 'manual' ? 'a person or a program' : 'the schedule')}
        </dd>
      </div>
      {run.personName && run.personName !== run.startedBy && (
        <div>
          <dt>Person</dt>
          <dd>{run.personName}</dd>
        </div>
      )}
      <div>
        <dt>Project</dt>
        <dd>
          <a href={pageAt(`/projects/${run.projectId}`)}>{run.project?.name ?? run.projectId}</a>
        </dd>
      </div>
      {run.sandboxTemplateId && (
        <div>
          <dt>Started by an outsider</dt>
          <dd>
            <a href={pageAt(`/templates/${run.sandboxTemplateId}`)}>Sandbox template of the rule</a>
          </dd>
        </div>
      )}
      {run.attemptGroup && (
        <div>
          <dt>Attempt {run.attemptNumber}</dt>
          <dd>
            <a href={pageAt(`/attempts/${run.attemptGroup.id}`)}>Compare attempts</a>
            {run.attemptState !== 'open' && <span class="muted small"> {run.attemptState}</span>}
          </dd>
        </div>
      )}
      {run.continuesStep && (
        <div>
          <dt>Continues</dt>
          <dd>
            <a href={pageAt(`/runs/${run.continuesStep.runId}`)}>step {run.continuesStep.seq + 1} of another mission</a>
          </dd>
        </div>
      )}
      {run.fork && (
        <div>
          <dt>Forked from</dt>
          <dd>
            <a href={pageAt(`/runs/${run.fork.sourceRunId}`)}>call {run.fork.call} of another mission</a>
            <div class="muted small">
              Replays {plural(run.fork.calls, 'recorded call')} at no cost, then continues with the model{' '}
              {run.fork.model}
              {run.fork.agentVersion !== null && ` and version ${run.fork.agentVersion} of the agent`}
            </div>
          </dd>
        </div>
      )}
      {run.prUrl && !run.outcome && (
        <div>
          <dt>Pull request</dt>
          <dd>
            <a href={run.prUrl}>#{run.prNumber}</a>
          </dd>
        </div>
      )}
      <div>
        <dt>Issue</dt>
        <dd>{run.issueUrl ? <a href={run.issueUrl}>{run.issue?.key ?? 'In the tracker'}</a> : (run.issueId ?? '–')}</dd>
      </div>
    </dl>
  );
}
