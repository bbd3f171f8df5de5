// Decisions that a person can make about an open mission.
import {
  approvePlan,
  cancelRun,
  interruptRun,
  type RunPartsFragment,
  resumeRun,
  setRunBudget,
  setRunLimits,
} from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { pageAt } from '../kit/page.ts';
import { Action } from '../kit/pieces.tsx';
import { dollars } from '../kit/words.tsx';
import { isOpen } from './run-facts.tsx';
import { titleOf } from './runs.tsx';

/** Whether the current or a later agent of the run accepts messages. */
export const canHear = (run: RunPartsFragment) =>
  isOpen(run) && run.steps[0] !== undefined && run.steps[0].harness !== 'shell';

interface DecisionsProperties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

export function Decisions({ run, show }: DecisionsProperties) {
  const variables = { runId: run.id };
  return (
    <div class="decisions">
      {run.awaitsApproval && (
        <Action
          label="Approve plan"
          class="slim"
          dataKey="a"
          act={async () => show((await ask(approvePlan, variables)).approvePlan)}
        />
      )}
      {run.needs === 'budget' && <MoreMoney run={run} show={show} />}
      {run.needs === 'limit' && <HigherLimit run={run} show={show} />}
      {run.interruptedAt !== null ? (
        <Action
          label="Resume"
          describes="Resume mission"
          class="slim"
          act={async () => show((await ask(resumeRun, variables)).resumeRun)}
        />
      ) : (
        canHear(run) &&
        !run.awaitsApproval && (
          <Action
            label="Interrupt"
            describes="Interrupt mission"
            act={async () => show((await ask(interruptRun, variables)).interruptRun)}
          />
        )
      )}
      {run.status === 'running' && (
        <a class="button quiet slim" data-key="t" href={pageAt(`/runs/${run.id}/terminal`)}>
          Terminal
        </a>
      )}
      <Action
        label="Cancel"
        describes="Cancel mission"
        class="danger slim"
        question={`“${titleOf(run)}” and its sandboxes end immediately.`}
        act={async () => show((await ask(cancelRun, variables)).cancelRun)}
      />
    </div>
  );
}

/** US dollars that the button adds to the budget. */
const budgetStep = 5;

/** Actions for a mission whose next model call exceeds a limit. */
function MoreMoney({ run, show }: DecisionsProperties) {
  if (run.parkedBy === 'credits') return <a href={pageAt('/billing')}>Buy credits</a>;
  if (run.parkedBy === 'cap') return <a href={pageAt('/settings')}>Raise the daily cap</a>;
  if (run.parkedBy === 'shared_budget') return <a href={pageAt('/billing')}>Raise the budget</a>;
  const budgetUsd = Math.ceil(Math.max(run.budgetUsd ?? 0, run.missionCostUsd)) + budgetStep;
  return (
    <Action
      label={`Raise budget to ${dollars(budgetUsd)}`}
      class="slim"
      act={async () => show((await ask(setRunBudget, { runId: run.id, budgetUsd })).setRunBudget)}
    />
  );
}

/** Doubles the limit that the mission has reached. A limit of the installation cannot be raised here. */
function HigherLimit({ run, show }: DecisionsProperties) {
  const [name, unit] = reachedLimits[run.parkedBy as keyof typeof reachedLimits];
  const limit = run[name];
  if (limit === null) return null;
  const raised = limit * 2;
  return (
    <Action
      label={`Raise limit to ${raised.toLocaleString('en-US')} ${unit}`}
      class="slim"
      act={async () => show((await ask(setRunLimits, { runId: run.id, [name]: raised })).setRunLimits)}
    />
  );
}

const reachedLimits = {
  time: ['maxMinutes', 'minutes'],
  model_calls: ['maxModelCalls', 'model calls'],
  tokens: ['maxTokens', 'tokens'],
} as const;
