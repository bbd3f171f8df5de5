// One attempt of a comparison: the same figures in the same order as the cards beside it.
import { shownModel } from '../../surfaces/console/models.ts';
import { may, now, pageAt } from '../kit/page.ts';
import { Action, Pill } from '../kit/pieces.tsx';
import { dollars } from '../kit/words.tsx';
import { outcomeWords, stateOf } from '../missions/run-state.tsx';
import { lengthOf, remark } from '../missions/runs.tsx';
import { type Attempt, type Group, isOpenRun } from './group.ts';

interface Properties {
  attempt: Attempt;
  group: Group;
  choose(runId: string): Promise<void>;
}

const reviewWords = { approve: 'Approved', request_changes: 'Changes requested' } as const;

/** Whether the attempt has the lowest value of all ended attempts, and at least one other attempt has a higher value. */
function isBest({ attempts }: Group, attempt: Attempt, value: (one: Attempt) => number | null): boolean {
  const ended = attempts.filter((one) => one.run.status === 'completed' && value(one) !== null);
  const own = value(attempt);
  return (
    ended.length > 1 &&
    ended.includes(attempt) &&
    ended.every((one) => own! <= value(one)!) &&
    ended.some((one) => own! < value(one)!)
  );
}

const costOf = ({ run }: Attempt): number => run.missionCostUsd;
const timeOf = ({ run }: Attempt): number | null =>
  run.startedAt === null ? null : (run.finishedAt ?? now()) - run.startedAt;

export function AttemptCard({ attempt, group, choose }: Properties) {
  const { number, state, run, agentName, harness, model, review, isTestPassed, criteria, criteriaPassed } = attempt;
  const name = `Attempt ${number}`;
  return (
    <section class={`panel attempt ${state === 'chosen' ? 'is-chosen' : ''}`} aria-label={name}>
      <header class="panel-head">
        <h2>{name}</h2>
        <div class="aside">
          <Pill status={state === 'open' ? stateOf(run) : state} />
        </div>
      </header>
      <dl>
        <dt>Agent</dt>
        <dd>{agentName ?? '–'}</dd>
        <dt>Model</dt>
        <dd>
          {shownModel(model) ?? '–'}
          {harness && <span class="muted small"> {harness}</span>}
        </dd>
        <dt>Result</dt>
        <dd>{isOpenRun(attempt) ? (remark(run) ?? 'Working') : (outcomeWords(run) ?? remark(run) ?? run.status)}</dd>
        <dt>Review</dt>
        <dd>{review ? reviewWords[review] : '–'}</dd>
        <dt>Test</dt>
        <dd>{isTestPassed === null ? '–' : isTestPassed ? 'Passed' : 'Failed'}</dd>
        <dt>Criteria</dt>
        <dd>{criteria === 0 ? '–' : `${criteriaPassed} of ${criteria} met`}</dd>
        <dt>Time</dt>
        <dd>
          {lengthOf(run) ?? '–'}
          {isBest(group, attempt, timeOf) && <span class="muted small"> fastest</span>}
        </dd>
        <dt>Cost</dt>
        <dd>
          {dollars(run.missionCostUsd)}
          {isBest(group, attempt, costOf) && <span class="muted small"> cheapest</span>}
        </dd>
      </dl>
      {run.prompt !== null && run.prompt !== group.prompt && (
        <details>
          <summary>Own prompt</summary>
          <p class="prompt">{run.prompt}</p>
        </details>
      )}
      <div class="actions">
        {group.state === 'open' && may('missions:run') && attempt.choiceBlocker === null && (
          <Action
            label="Choose"
            describes={`Choose attempt ${number}`}
            class="slim"
            question={`Attempt ${number} becomes the result${run.outcome?.result === 'changes' ? ': its pull request is opened' : ''}. The other attempts end, and their branches are deleted.`}
            act={() => choose(run.id)}
          />
        )}
        {run.outcome?.result === 'changes' && (
          <a
            class="button quiet slim"
            href={pageAt(`/runs/${run.id}/changes`)}
            aria-label={`Changes of attempt ${number}`}
          >
            Changes
          </a>
        )}
        <a class="button quiet slim" href={pageAt(`/runs/${run.id}`)} aria-label={`Open attempt ${number}`}>
          Open
        </a>
      </div>
    </section>
  );
}
