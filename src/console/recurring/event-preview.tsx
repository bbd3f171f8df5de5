// The effect of an unsaved rule on the last events that arrived. Nothing is started.
import { useState } from 'preact/hooks';
import { type PreviewEventTriggerQuery, previewEventTrigger } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { ErrorNote, Pill } from '../kit/pieces.tsx';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { Time } from '../kit/words.tsx';
import { type EventRule, triggerOf } from './event-values.ts';

type Effect = PreviewEventTriggerQuery['previewEventTrigger']['data'][number];

interface State {
  /** The previewed rule as text. */
  of: string;
  effects?: Effect[];
  problem?: ProblemBody;
}

export function EventPreview({ rule, projectId }: { rule: EventRule; projectId: string }) {
  const [state, setState] = useState<State | null>(null);
  const input = { trigger: triggerOf(rule), ...(projectId && { projectId }) };
  const of = JSON.stringify(input);
  const preview = () => {
    setState({ of });
    ask(previewEventTrigger, { input }).then(
      ({ previewEventTrigger: { data } }) => setState({ of, effects: data }),
      (error) => setState({ of, problem: problemOf(error) }),
    );
  };
  return (
    <>
      <button type="button" class="quiet slim" onClick={preview}>
        Preview with the last events
      </button>
      {state && (
        <section class="event-preview" aria-label="Preview" aria-live="polite">
          {state.of !== of && <p class="small muted">The rule has changed since this preview.</p>}
          {state.problem && <ErrorNote problem={state.problem} />}
          {state.effects?.length === 0 && <p class="small muted">No event of this kind arrived in the last 30 days.</p>}
          {state.effects && state.effects.length > 0 && (
            <ul class="rows">
              {state.effects.map((effect) => (
                <EffectRow key={effect.delivery.id} effect={effect} />
              ))}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

const EffectRow = ({ effect: { reason, key, text, delivery } }: { effect: Effect }) => (
  <li>
    <div class="next-row">
      <Pill status={reason === null ? 'matches' : 'does not match'} />
      <div class="grow break">
        {delivery.title ?? delivery.event}
        <div class="muted small">
          <Time at={delivery.receivedAt} />
          {reason !== null && ` · ${reason}`}
          {key !== null && ` · Key: ${key}`}
        </div>
      </div>
    </div>
    {text !== null && <ScrollBlock>{text}</ScrollBlock>}
  </li>
);
