// Outside effects of a mission. Waiting effects are approved or rejected, one by one or together.
import './effects.css';
import { useEffect } from 'preact/hooks';
import {
  approveOutsideEffects,
  type Operation,
  type OutsideEffectFragment,
  rejectOutsideEffects,
  runEffects,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may } from '../kit/page.ts';
import { Action, Card, ErrorNote, Pill } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { plural, Time } from '../kit/words.tsx';

type Effect = OutsideEffectFragment;

const waits = ({ state }: Effect): boolean => state === 'staged' || state === 'failed';
const isInProgress = ({ state }: Effect): boolean => state === 'approved' || state === 'committing';

export const stateWords: Record<Effect['state'], string> = {
  staged: 'waits',
  approved: 'approved',
  committing: 'under way',
  committed: 'done',
  rejected: 'rejected',
  failed: 'failed',
};

/** Time between two reads while approved effects are carried out. */
const readAgainMs = 1_000;

/** The effects of a mission. @param dense Whether only waiting effects are shown, without a frame, as in the inbox */
export function Effects({ runId, dense = false }: { runId: string; dense?: boolean }) {
  const { data, problem, read } = usePolledReading(runEffects, { runId });
  const all = data?.outsideEffects.data ?? [];
  const working = all.some(isInProgress);
  useEffect(() => {
    const timer = working ? setInterval(read, readAgainMs) : undefined;
    return () => clearInterval(timer);
  }, [working, read]);
  if (problem && all.length === 0) return dense ? <ErrorNote problem={problem} retry={read} /> : null;
  if (all.length === 0) return null;
  const waiting = all.filter(waits);
  const together = waiting.length > 1 ? ` all ${waiting.length}` : '';
  const noun = waiting.length > 1 ? 'outside effects' : 'outside effect';
  const shown = dense ? all.filter((one) => waits(one) || isInProgress(one)) : all;
  const decide =
    (operation: typeof approveOutsideEffects | typeof rejectOutsideEffects, effects: readonly Effect[]) =>
    async (key: string) => {
      const chosen = { effectIds: effects.map(({ id }) => id), digests: effects.map(({ digest }) => digest) };
      // A decision is refused when the effect has changed: the list then shows the change.
      await mutate(operation as Operation<unknown, unknown>, { runId, ...chosen }, key).finally(read);
    };
  const acts = may('missions:run') && waiting.length > 0 && (
    <div class="effect-acts">
      <Action
        label={`Approve${together}`}
        describes={`Approve${together} ${noun}`}
        class="slim"
        dataKey={dense ? 'a' : undefined}
        act={decide(approveOutsideEffects, waiting)}
      />
      <Action
        label={`Reject${together}`}
        describes={`Reject${together} ${noun}`}
        class="danger slim"
        question="Rejected effects are never sent, and rejected commits can no longer be pushed."
        dataKey={dense ? 'd' : undefined}
        act={decide(rejectOutsideEffects, waiting)}
      />
    </div>
  );
  const list = (
    <ol class="effects">
      {shown.map((effect) => (
        <Row
          key={effect.id}
          effect={effect}
          isAlone={dense || waiting.length < 2 || !may('missions:run')}
          approve={decide(approveOutsideEffects, withPush(effect, waiting))}
          reject={decide(rejectOutsideEffects, [effect])}
        />
      ))}
    </ol>
  );
  if (dense)
    return (
      <>
        {list}
        {acts}
      </>
    );
  return (
    <Card title="Outside effects" class="effects-card" aside={acts || undefined}>
      {problem && <ErrorNote problem={problem} retry={read} />}
      <p class="muted">
        {waiting.length > 0
          ? `${plural(waiting.length, 'outside effect')} of this mission ${waiting.length === 1 ? 'waits' : 'wait'} for approval.`
          : working
            ? 'The approved effects are carried out.'
            : 'No effect is waiting.'}
      </p>
      {list}
    </Card>
  );
}

/** A pull request is approved together with the push of its branch. */
const withPush = (effect: Effect, waiting: readonly Effect[]): readonly Effect[] =>
  effect.kind === 'pull_request' ? [...waiting.filter(({ kind }) => kind === 'push'), effect] : [effect];

interface RowProperties {
  effect: Effect;
  /** Whether the buttons that act on all effects include this effect. */
  isAlone: boolean;
  approve(key: string): Promise<void>;
  reject(key: string): Promise<void>;
}

function Row({ effect, isAlone, approve, reject }: RowProperties) {
  const { kind, state, title, text, error, resultUrl, decidedBy, decidedAt } = effect;
  return (
    <li class="effect">
      <div class="effect-head">
        <Pill status={stateWords[state]} />
        <span class="effect-title">{title}</span>
        {resultUrl && <a href={resultUrl}>Open</a>}
        {!isAlone && waits(effect) && (
          <div class="effect-acts">
            <Action
              label={state === 'failed' ? 'Try again' : 'Approve'}
              describes={`${state === 'failed' ? 'Try again' : 'Approve'}: ${title}`}
              act={approve}
            />
            <Action label="Reject" describes={`Reject: ${title}`} act={reject} />
          </div>
        )}
      </div>
      {error && <p class="step-error">{error}</p>}
      {kind === 'push' && text && <p class="muted small">{text}</p>}
      {kind !== 'push' && text && (
        <details open={waits(effect)}>
          <summary>{kind === 'mcp_call' ? 'Arguments' : 'Text'}</summary>
          <pre class="call-result">{text}</pre>
        </details>
      )}
      {decidedAt !== null && (
        <p class="muted small">
          {state === 'rejected' ? 'Rejected' : 'Approved'} by {decidedBy ?? 'the cancellation of the mission'},{' '}
          <Time at={decidedAt} />
        </p>
      )}
    </li>
  );
}
