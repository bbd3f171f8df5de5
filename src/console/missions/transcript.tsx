// The transcript of a mission: its steps in order, each with the output of its agent. Steps can be collapsed.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type RunPartsFragment, type RunStepFragment, sandboxFragments } from '../generated/documents.ts';
import { may, pageAt } from '../kit/page.ts';
import { Card, Empty, ErrorNote, Loaded, Pill, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { isAlive, useSandbox } from '../kit/watching.ts';
import { dollars, Lasted, Time } from '../kit/words.tsx';
import { Fragments } from './fragments.tsx';
import { isOpen } from './run-facts.tsx';
import { StepFacts, StepResult } from './steps.tsx';

type RunSandbox = RunPartsFragment['sandboxes'][number];

/**
 * One part of the transcript. Most parts show a step and its sandbox. A sandbox whose runtime was lost is a part without a step, because the
 * step that was executed in it no longer refers to it.
 */
interface Part {
  id: string;
  step: RunStepFragment | null;
  sandbox: RunSandbox | undefined;
  sandboxId: string | null;
  at: number;
}

/** How many of the last parts are expanded when the page opens. Failed parts are always expanded. */
const unfolded = 5;

/** Parts of the transcript, oldest first. */
function partsOf({ steps, sandboxes }: RunPartsFragment): Part[] {
  const named = new Set(steps.map(({ sandboxId }) => sandboxId));
  const ofSteps = [...steps].reverse().map((step) => {
    const sandbox = sandboxes.find(({ sandboxId }) => sandboxId === step.sandboxId);
    return { id: step.id, step, sandbox, sandboxId: step.sandboxId, at: step.startedAt ?? Number.POSITIVE_INFINITY };
  });
  const others = sandboxes
    .filter(({ sandboxId }) => !named.has(sandboxId))
    .map((sandbox) => ({
      id: sandbox.sandboxId,
      step: null,
      sandbox,
      sandboxId: sandbox.sandboxId,
      at: sandbox.createdAt,
    }));
  const parts: Part[] = ofSteps;
  for (const other of others.reverse()) {
    const next = parts.findIndex(({ at }) => at > other.at);
    parts.splice(next < 0 ? parts.length : next, 0, other);
  }
  return parts;
}

export function Transcript({ run }: { run: RunPartsFragment }) {
  const parts = partsOf(run);
  const box = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(isOpen(run));
  useLayoutEffect(() => {
    const follow = new ResizeObserver(() => {
      if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
    });
    if (end.current) follow.observe(end.current);
    return () => follow.disconnect();
  }, [parts.length === 0]);
  if (parts.length === 0) {
    return (
      <Card title="Transcript">
        <Empty>
          <p>
            {isOpen(run)
              ? 'The transcript starts when a runtime claims the mission.'
              : 'No agent worked on the mission.'}
          </p>
        </Empty>
      </Card>
    );
  }
  const onScroll = ({ currentTarget: it }: Event & { currentTarget: HTMLElement }) => {
    follows.current = isOpen(run) && it.scrollHeight - it.scrollTop - it.clientHeight < 24;
  };
  return (
    <Card title="Transcript" aside={parts.length > 1 && `${parts.length} steps`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1) */}
      <section class="transcript" ref={box} onScroll={onScroll} tabIndex={0} aria-label="Steps of the mission">
        <div ref={end}>
          {parts.map((part, i) => (
            <Step key={part.id} run={run} part={part} isUnfolded={i >= parts.length - unfolded || hasFailed(part)} />
          ))}
        </div>
      </section>
    </Card>
  );
}

const hasFailed = ({ step, sandbox }: Part): boolean => (step ?? sandbox)?.status === 'failed';

const nameOf = (role: string): string => (role === 'qa' ? 'QA' : `${role[0]!.toUpperCase()}${role.slice(1)}`);

function Step({ run, part, isUnfolded }: { run: RunPartsFragment; part: Part; isUnfolded: boolean }) {
  const { step, sandbox, sandboxId } = part;
  const [isShown, setShown] = useState(isUnfolded);
  const name = nameOf(step?.role ?? sandbox!.role);
  return (
    <details class="step" open={isShown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>
        <strong>{name}</strong>
        {step && step.round > 1 && <span class="muted small">round {step.round}</span>}
        <Pill status={step?.status ?? sandbox!.status} />
        {step && (
          <span class="muted small figures-inline">
            {dollars(step.costUsd)} · <Lasted from={step.startedAt} to={step.finishedAt} />
          </span>
        )}
      </summary>
      {isShown && (
        <div class="step-body">
          <p class="muted small step-line">
            {step ? <StepFacts step={step} /> : sandbox!.harness}
            {sandboxId && may('sandboxes:read') && (
              <>
                {' · '}
                <a href={pageAt(`/sandboxes/${sandboxId}`)} aria-label={`Sandbox and logs of the ${name}`}>
                  Sandbox and logs
                </a>
              </>
            )}
          </p>
          {sandboxId && may('sandboxes:read') && <Work sandboxId={sandboxId} step={step} sandbox={sandbox} />}
          {step && <StepResult runId={run.id} step={step} canContinue={!isOpen(run) && may('missions:run')} />}
        </div>
      )}
    </details>
  );
}

/** The transcript of a sandbox: followed while its agent works, read once when the sandbox has ended. */
function Work({
  sandboxId,
  step,
  sandbox,
}: {
  sandboxId: string;
  step: RunStepFragment | null;
  sandbox: RunSandbox | undefined;
}) {
  const [isFollowed] = useState(step?.status === 'running' || (sandbox !== undefined && isAlive({ sandbox })));
  return isFollowed ? (
    <LiveWork key={sandboxId} sandboxId={sandboxId} />
  ) : (
    <PastWork key={sandboxId} sandboxId={sandboxId} />
  );
}

function LiveWork({ sandboxId }: { sandboxId: string }) {
  const { detail, problem, read } = useSandbox(sandboxId, false);
  return (
    <Loaded value={detail} problem={problem} retry={read} rows={4} height={44}>
      {(detail) => (
        <Fragments sandboxId={sandboxId} fragments={detail.liveFragments} isOver={!isAlive(detail)} scrolls={false} />
      )}
    </Loaded>
  );
}

/** Number of fragments of an ended step that are read at first. */
const batchSize = 50;

function PastWork({ sandboxId }: { sandboxId: string }) {
  const { data, problem, read } = useReading(
    sandboxFragments,
    { sandboxId, limit: batchSize, cursor: null },
    { alone: true },
  );
  if (problem?.code === 'not_found') return <Empty>The sandbox was deleted, with its logs and its transcript.</Empty>;
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  if (!data) return <Skeleton rows={4} height={44} />;
  const { sandbox, fragments: page } = data.sandbox;
  const { data: fragments, nextCursor } = page;
  if (sandbox.logsDeletedAt !== null && fragments.length === 0) {
    return (
      <Empty>
        Logs and transcript were deleted <Time at={sandbox.logsDeletedAt} />, under the retention settings of the
        organization.
      </Empty>
    );
  }
  return <Fragments sandboxId={sandboxId} fragments={fragments} earlier={nextCursor} isOver scrolls={false} />;
}
