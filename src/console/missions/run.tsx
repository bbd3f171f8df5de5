// One mission: its status, outcome, transcript, messages and artifacts.

import { useLocation } from 'preact-iso';
import { ArtifactGrid } from '../artifacts/artifacts.tsx';
import { HistoryLink } from '../audit/history-link.tsx';
import { Effects } from '../effects/effects.tsx';
import { run as oneRun, type RunPartsFragment, runAttestations, runLive, runNetwork } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { press, useKeys } from '../kit/keys.ts';
import { useLive } from '../kit/live.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Loading } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { Tabs } from '../kit/tabs.tsx';
import { SandboxRows } from '../sandboxes/sandboxes.tsx';
import { Attestations } from './attestations.tsx';
import { BlockedHosts } from './blocked-hosts.tsx';
import { canHear, Decisions } from './decisions.tsx';
import { DeletedDetails } from './deleted-details.tsx';
import { Follow } from './follow.tsx';
import { Forks } from './fork.tsx';
import { HandOver } from './hand-over.tsx';
import { LastLines } from './last-lines.tsx';
import { Messages } from './messages.tsx';
import { Questions } from './questions.tsx';
import { Recording } from './recording.tsx';
import { mayRerun, rerun } from './rerun.ts';
import { Network, Preparations, useWhileOpen } from './run-environment.tsx';
import { Facts, Figures, isOpen } from './run-facts.tsx';
import { titleOf } from './runs.tsx';
import { Transcript } from './transcript.tsx';

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
  const attested = useWhileOpen(runAttestations, runId, run === undefined || isOpen(run));
  const show = (updatedRun: RunPartsFragment) => change(() => ({ run: updatedRun }));
  useKeys(Object.fromEntries(Object.entries(keyWords).map(([key, words]) => [key, [words, press(key)] as const])));
  const heading = (
    <Heading title={run ? titleOf(run) : null} above={aboveOf(run)}>
      <CopyAs
        id={runId}
        path={`/runs/${runId}`}
        graphql={`{ run(runId: "${runId}") { id status missionCostUsd } }`}
        client={`client.run({ runId: '${runId}' })`}
        cli={`aep show ${runId}`}
      />
      <HistoryLink id={runId} />
      {may('sandboxes:read') && !run?.kept && (
        <a class="button quiet slim" href={pageAt(`/runs/${runId}/replay`)}>
          Replay and share
        </a>
      )}
      {run && mayHandOver(run) && <HandOver run={run} show={show} />}
      {run && <Follow run={run} show={show} />}
      {run && may('missions:run') && <RunAgain run={run} />}
    </Heading>
  );
  if (!run) {
    return (
      <>
        {heading}
        <Loading problem={problem} retry={read} rows={3} height={120} />
      </>
    );
  }
  const sandbox = run.sandboxes[0];
  const attestations = attested.data?.run.attestations.length ?? 0;
  const connections = network.data?.runConnections?.data.length ?? 0;
  return (
    <>
      {heading}
      {problem && <ErrorNote problem={problem} retry={read} />}
      <section class="panel" aria-label="Status">
        <Facts run={run}>{isOpen(run) && may('missions:run') && <Decisions run={run} show={show} />}</Facts>
      </section>
      <Effects runId={run.id} />
      <Questions runId={run.id} questions={run.questions} onAnswered={read} />
      <BlockedHosts runId={run.id} projectName={run.project?.name ?? 'the project'} reading={network} />
      <div class="columns">
        <div class="column">
          {run.status === 'failed' && sandbox && may('sandboxes:read') && <LastLines sandboxId={sandbox.sandboxId} />}
          {run.prompt && (
            <Card title="Prompt">
              <p class="prompt">{run.prompt}</p>
            </Card>
          )}
          {run.kept ? <DeletedDetails kept={run.kept} at={run.detailsDeletedAt!} /> : <Transcript run={run} />}
          {(run.messages.length > 0 || canHear(run)) && (
            <Messages
              runId={run.id}
              messages={run.messages}
              isOpen={canHear(run) && may('missions:run')}
              onSent={read}
            />
          )}
        </div>
        <Tabs
          label="About the mission"
          tabs={[
            {
              name: 'Details',
              content: (
                <>
                  <Figures run={run} />
                  <Preparations runId={run.id} isOpen={isOpen(run)} />
                  <Recording key={run.status} runId={run.id} />
                  <Forks runId={run.id} />
                </>
              ),
            },
            ...(run.kept && run.artifacts.length === 0
              ? []
              : [{ name: 'Artifacts', count: run.artifacts.length, content: <Artifacts run={run} /> }]),
            ...(run.kept ? [] : [{ name: 'Sandboxes', count: run.sandboxes.length, content: <Sandboxes run={run} /> }]),
            ...(connections > 0
              ? [{ name: 'Network', count: connections, content: <Network reading={network} /> }]
              : []),
            ...(attestations > 0
              ? [{ name: 'Attestation', count: attestations, content: <Attestations reading={attested} /> }]
              : []),
          ]}
        />
      </div>
    </>
  );
}

const keyWords = { a: 'Approve the plan', r: 'Review the changes', m: 'Write to the agent', t: 'Open a terminal' };

const mayHandOver = ({ status }: RunPartsFragment): boolean =>
  may('missions:run') && may('members:read') && status !== 'canceled' && status !== 'skipped';

const Artifacts = ({ run }: { run: RunPartsFragment }) =>
  run.artifacts.length > 0 ? (
    <ArtifactGrid rows={run.artifacts} small />
  ) : (
    <Empty>{isOpen(run) ? 'Files that the agent submits appear here.' : 'The agent submitted no files.'}</Empty>
  );

const Sandboxes = ({ run }: { run: RunPartsFragment }) =>
  run.sandboxes.length > 0 ? (
    <SandboxRows rows={run.sandboxes} />
  ) : (
    <Empty>{isOpen(run) ? 'None yet.' : 'None.'}</Empty>
  );

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
