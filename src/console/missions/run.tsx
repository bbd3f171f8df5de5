// One mission: its status, outcome, transcript, messages and artifacts.

import { useLocation } from 'preact-iso';
import { ArtifactGrid } from '../artifacts/artifacts.tsx';
import { Effects } from '../effects/effects.tsx';
import {
  approvePlan,
  cancelRun,
  interruptRun,
  run as oneRun,
  type RunPartsFragment,
  resumeRun,
  runLive,
  runNetwork,
  setRunBudget,
  setRunLimits,
} from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { Copy, CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { useLive } from '../kit/live.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { dollars } from '../kit/words.tsx';
import { SandboxRows } from '../sandboxes/sandboxes.tsx';
import { BlockedHosts } from './blocked-hosts.tsx';
import { HandOver } from './hand-over.tsx';
import { LastLines } from './last-lines.tsx';
import { Messages } from './messages.tsx';
import { Questions } from './questions.tsx';
import { mayRerun, rerun } from './rerun.ts';
import { Network, Preparations, useWhileOpen } from './run-environment.tsx';
import { Facts, isOpen } from './run-facts.tsx';
import { titleOf } from './runs.tsx';
import { Transcript } from './transcript.tsx';

/** Whether the present or a later agent of the run accepts messages. */
const canHear = (run: RunPartsFragment) =>
  isOpen(run) && run.steps[0] !== undefined && run.steps[0].harness !== 'shell';

export function Run({ id: runId }: { id: string }) {
  const { data, problem, read, change } = useReading(oneRun, { runId });
  const run = data?.run;
  useLive({
    operation: runLive,
    variables: { runId },
    take: ({ runUpdated }) => change(() => ({ run: runUpdated })),
    poll: read,
    isOver: () => run !== undefined && !isOpen(run),
  });
  const network = useWhileOpen(runNetwork, runId, run === undefined || isOpen(run));
  const heading = (
    <Heading title={run ? titleOf(run) : null} above={aboveOf(run)}>
      <Copy text={runId} label="Copy id" describes="Copy id of the mission" />
      <Copy text={location.origin + pageAt(`/runs/${runId}`)} label="Copy link" describes="Copy link to this page" />
      <CopyAs
        path={`/runs/${runId}`}
        graphql={`{ run(runId: "${runId}") { id status missionCostUsd } }`}
        client={`client.run({ runId: '${runId}' })`}
        cli={`aep show ${runId}`}
      />
      {may('sandboxes:read') && (
        <a class="button quiet slim" href={pageAt(`/runs/${runId}/replay`)}>
          Replay and share
        </a>
      )}
      {run && may('missions:run') && <RunAgain run={run} />}
    </Heading>
  );
  if (!run) {
    return (
      <>
        {heading}
        {problem ? <ErrorNote problem={problem} retry={read} /> : <Skeleton rows={3} height={120} />}
      </>
    );
  }
  const sandbox = run.sandboxes[0];
  return (
    <>
      {heading}
      {problem && <ErrorNote problem={problem} retry={read} />}
      <Card
        title="Status"
        aside={
          isOpen(run) &&
          may('missions:run') && <Decisions run={run} show={(updatedRun) => change(() => ({ run: updatedRun }))} />
        }
      >
        <Facts run={run} />
      </Card>
      <Effects runId={run.id} />
      <Questions runId={run.id} questions={run.questions} onAnswered={read} />
      <div class="columns">
        <div class="column">
          {run.status === 'failed' && sandbox && may('sandboxes:read') && <LastLines sandboxId={sandbox.sandboxId} />}
          {run.prompt && (
            <Card title="Prompt">
              <p class="prompt">{run.prompt}</p>
            </Card>
          )}
          <Transcript run={run} />
          <Network reading={network} />
        </div>
        <div class="column">
          <BlockedHosts runId={run.id} projectName={run.project?.name ?? 'the project'} reading={network} />
          {(run.messages.length > 0 || canHear(run)) && (
            <Messages
              runId={run.id}
              messages={run.messages}
              isOpen={canHear(run) && may('missions:run')}
              onSent={read}
            />
          )}
          {may('missions:run') && may('members:read') && run.status !== 'canceled' && run.status !== 'skipped' && (
            <HandOver run={run} show={(updatedRun) => change(() => ({ run: updatedRun }))} />
          )}
          <Preparations runId={run.id} isOpen={isOpen(run)} />
          <Card title="Sandboxes">
            {run.sandboxes.length > 0 ? <SandboxRows rows={run.sandboxes} /> : <Empty>None yet.</Empty>}
          </Card>
          <Card title="Artifacts">
            {run.artifacts.length > 0 ? (
              <ArtifactGrid rows={run.artifacts} small />
            ) : (
              <Empty>
                {isOpen(run) ? 'Files that the agent submits appear here.' : 'The agent submitted no files.'}
              </Empty>
            )}
          </Card>
        </div>
      </div>
    </>
  );
}

function RunAgain({ run }: { run: RunPartsFragment }) {
  const { route } = useLocation();
  if (!mayRerun(run)) return null;
  return <Action label="Run again" act={async (key) => route(pageAt(`/runs/${await rerun(run.id, key)}`))} />;
}

const aboveOf = (run: RunPartsFragment | undefined): [string, string][] => [
  [pageAt('/runs'), 'Missions'],
  ...(run?.project ? [[pageAt(`/projects/${run.projectId}`), run.project.name] as [string, string]] : []),
  ...(run?.attemptGroup ? [[pageAt(`/attempts/${run.attemptGroup.id}`), 'Attempts'] as [string, string]] : []),
];

interface DecisionsProperties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

/** Decisions that a person can make about an open run. */
function Decisions({ run, show }: DecisionsProperties) {
  const variables = { runId: run.id };
  return (
    <div class="decisions">
      {run.awaitsApproval && (
        <Action
          label="Approve plan"
          class="slim"
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
        <a class="button slim" href={pageAt(`/runs/${run.id}/terminal`)}>
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

/** Doubles the limit that the mission has reached, unless that is the bound of the installation. */
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
