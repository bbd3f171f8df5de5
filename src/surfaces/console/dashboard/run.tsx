// One run while it runs: how far it is, what it costs, what its sandbox does, and what it left behind.

import { useLocation } from 'preact-iso';
import { ArtifactGrid } from './artifacts.tsx';
import { ask } from './client.ts';
import { Copy, CopyAs } from './copy-as.tsx';
import {
  approvePlan,
  cancelRun,
  interruptRun,
  run as oneRun,
  type RunPartsFragment,
  resumeRun,
  runLive,
} from './documents.ts';
import { Fragments } from './fragments.tsx';
import { Heading } from './heading.tsx';
import { LastLines } from './last-lines.tsx';
import { useLive } from './live.ts';
import { Messages } from './messages.tsx';
import { may, pageAt } from './page.ts';
import { Action, Card, Empty, Skeleton, Trouble } from './pieces.tsx';
import { useReading } from './reading.ts';
import { mayRerun, rerun } from './rerun.ts';
import { Facts, isOpen } from './run-facts.tsx';
import { titleOf } from './runs.tsx';
import { SandboxRows } from './sandboxes.tsx';
import { Steps } from './steps.tsx';
import { isAlive, useSandbox } from './watching.ts';

/** Whether an agent works on it, or will, that takes messages. */
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
  const heading = (
    <Heading title={run ? titleOf(run) : null} above={aboveOf(run)}>
      <Copy text={runId} label="Copy id" describes="Copy id of the run" />
      <Copy text={location.origin + pageAt(`/runs/${runId}`)} label="Copy link" describes="Copy link to this page" />
      <CopyAs
        path={`/runs/${runId}`}
        graphql={`{ run(runId: "${runId}") { id status missionCostUsd } }`}
        client={`client.run({ runId: '${runId}' })`}
        cli={`aep show ${runId}`}
      />
      {run && may('missions:run') && <RunAgain run={run} />}
    </Heading>
  );
  if (!run) {
    return (
      <>
        {heading}
        {problem ? <Trouble problem={problem} retry={read} /> : <Skeleton rows={3} height={120} />}
      </>
    );
  }
  const sandbox = run.sandboxes[0];
  return (
    <>
      {heading}
      {problem && <Trouble problem={problem} retry={read} />}
      <Card
        title="Status"
        aside={
          isOpen(run) &&
          may('missions:run') && <Decisions run={run} show={(updatedRun) => change(() => ({ run: updatedRun }))} />
        }
      >
        <Facts run={run} />
      </Card>
      <div class="columns">
        <div class="column">
          {run.status === 'failed' && sandbox && may('sandboxes:read') && <LastLines sandboxId={sandbox.sandboxId} />}
          {run.prompt && (
            <Card title="Prompt">
              <p class="prompt">{run.prompt}</p>
            </Card>
          )}
          {run.steps.length > 0 && (
            <Steps runId={run.id} steps={run.steps} canContinue={!isOpen(run) && may('missions:run')} />
          )}
          {sandbox && may('sandboxes:read') ? (
            <Work key={sandbox.sandboxId} sandboxId={sandbox.sandboxId} />
          ) : (
            <Card title="What the agent does">
              <Empty>
                <p>{isOpen(run) ? 'The run gets a sandbox when a runtime takes it.' : 'The run had no sandbox.'}</p>
              </Empty>
            </Card>
          )}
        </div>
        <div class="column">
          {(run.messages.length > 0 || canHear(run)) && (
            <Messages
              runId={run.id}
              messages={run.messages}
              isOpen={canHear(run) && may('missions:run')}
              onSent={read}
            />
          )}
          <Card title="Sandboxes">
            {run.sandboxes.length > 0 ? <SandboxRows rows={run.sandboxes} /> : <Empty>None yet.</Empty>}
          </Card>
          <Card title="Artifacts">
            {run.artifacts.length > 0 ? (
              <ArtifactGrid rows={run.artifacts} small />
            ) : (
              <Empty>Proof of work appears here.</Empty>
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
  return <Action label="Run again" act={async (key) => route(pageAt(`/runs/${await rerun(run, key)}`))} />;
}

const aboveOf = (run: RunPartsFragment | undefined): [string, string][] => [
  [pageAt('/runs'), 'Missions'],
  ...(run?.project ? [[pageAt(`/projects/${run.projectId}`), run.project.name] as [string, string]] : []),
];

interface DecisionsProperties {
  run: RunPartsFragment;
  show(run: RunPartsFragment): void;
}

/** What a person may decide about an open run. */
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
      {run.interruptedAt !== null ? (
        <Action
          label="Resume"
          describes="Resume run"
          class="slim"
          act={async () => show((await ask(resumeRun, variables)).resumeRun)}
        />
      ) : (
        canHear(run) &&
        !run.awaitsApproval && (
          <Action
            label="Interrupt"
            describes="Interrupt run"
            act={async () => show((await ask(interruptRun, variables)).interruptRun)}
          />
        )
      )}
      <Action
        label="Cancel"
        describes="Cancel run"
        class="danger slim"
        question={`“${titleOf(run)}” ends at once, and its sandboxes with it.`}
        act={async () => show((await ask(cancelRun, variables)).cancelRun)}
      />
    </div>
  );
}

/** What the newest sandbox of the run shows of itself. */
function Work({ sandboxId }: { sandboxId: string }) {
  const { detail, problem, read } = useSandbox(sandboxId, false);
  return (
    <Card title="What the agent does" aside={<a href={pageAt(`/sandboxes/${sandboxId}`)}>Sandbox and logs</a>}>
      {problem && <Trouble problem={problem} retry={read} />}
      {detail ? (
        <Fragments fragments={detail.liveFragments} isOver={!isAlive(detail)} />
      ) : (
        !problem && <Skeleton rows={4} height={64} />
      )}
    </Card>
  );
}
