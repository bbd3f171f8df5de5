// The detail of an item: its text and its actions.
import type { ComponentChildren } from 'preact';
import { Effects } from '../effects/effects.tsx';
import { failedSandbox } from '../generated/documents.ts';
import type { ProblemBody } from '../kit/client.ts';
import { may, person } from '../kit/page.ts';
import { ErrorNote } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { useStored } from '../kit/stored.ts';
import { Time } from '../kit/words.tsx';
import { LastLines } from '../missions/last-lines.tsx';
import { prettyArguments } from '../missions/questions.tsx';
import { Outcome } from '../missions/run-state.tsx';
import { type Act, actsOf, fieldOf, type Item, pageOf, sendAnswer } from './acts.ts';
import { titleOfItem } from './item-row.tsx';

interface Properties {
  item: Item;
  isHidden: boolean;
  isBusy: boolean;
  problem: ProblemBody | null;
  perform(act: Act, words: string): void;
  /** Hides the item, until a time if one is given, or brings a hidden item back. */
  finish(): void;
  snooze(): void;
}

export function ItemDetail({ item, isHidden, isBusy, problem, perform, finish, snooze }: Properties) {
  const [words, setWords] = useStored(`words ${person} ${item.id} ${item.question?.seq}`, () => '');
  const [address, label] = pageOf(item);
  const field = fieldOf(item);
  const acts = actsOf(item);
  const answer = item.kind === 'answer' ? sendAnswer(item) : null;
  const button = (act: Act, class_: string) => (
    <button
      key={act.label}
      type="button"
      class={`slim ${act.isDanger ? 'danger' : class_}`}
      disabled={isBusy}
      data-key={act.key ?? undefined}
      onClick={() => perform(act, words)}
    >
      {act.label} <Key name={act.key} />
    </button>
  );
  return (
    <article class="inbox-detail" aria-label={titleOfItem(item)}>
      <header>
        <h3>{titleOfItem(item)}</h3>
        <p class="muted small">
          <Facts item={item} />
        </p>
      </header>
      <Body item={item} />
      {item.kind === 'answer' && acts.length > 0 && <div class="inbox-acts">{acts.map((act) => button(act, ''))}</div>}
      {field && (
        <form
          class="compose"
          onSubmit={(event) => {
            event.preventDefault();
            if (answer && words.trim() !== '' && !isBusy) perform(answer, words);
          }}
        >
          <label for="inbox-words">{field}</label>
          <textarea
            id="inbox-words"
            rows={2}
            maxLength={4_000}
            value={words}
            onInput={({ currentTarget }) => setWords(() => currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur();
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form!.requestSubmit();
            }}
          />
          {answer && (
            <button type="submit" class="quiet slim" disabled={isBusy || words.trim() === ''}>
              {answer.label}
            </button>
          )}
        </form>
      )}
      {problem && <ErrorNote problem={problem} />}
      <div class="inbox-acts">
        <div class="inbox-acts">
          {item.kind !== 'answer' && acts.map((act, i) => button(act, i === 0 ? '' : 'quiet'))}
          <a
            class={`button slim ${item.kind === 'review' || item.kind === 'attempts' || item.kind === 'spending' ? '' : 'quiet'}`}
            href={address}
          >
            {label} <Key name="↵" />
          </a>
        </div>
        <div class="inbox-acts inbox-rest">
          <button type="button" class="quiet slim" disabled={isBusy} data-key="e" onClick={finish}>
            {isHidden ? 'Bring back' : 'Done'} <Key name="e" />
          </button>
          {!isHidden && (
            <button type="button" class="quiet slim" disabled={isBusy} data-key="s" onClick={snooze}>
              Snooze <Key name="s" />
            </button>
          )}
        </div>
      </div>
    </article>
  );
}

/** The key of a button, shown to sighted people only. Screen readers announce the name of the button. */
const Key = ({ name }: { name: string | null }) =>
  name && (
    <span class="key" aria-hidden="true">
      {name}
    </span>
  );

function Facts({ item: { project, run, delivery, since, hiddenUntil } }: { item: Item }) {
  const parts: ComponentChildren[] = [];
  if (project) parts.push(project.name);
  if (delivery) parts.push(`${delivery.event} at ${delivery.hook?.name ?? 'a deleted hook'}`);
  if (run?.startedBy) parts.push(`started by ${run.startedBy}`);
  return (
    <>
      {parts.map((part, i) => (
        <span key={i}>{part} · </span>
      ))}
      <Time at={since} />
      {hiddenUntil !== null && (
        <>
          , comes back <Time at={hiddenUntil} />
        </>
      )}
    </>
  );
}

function Body({ item }: { item: Item }) {
  const { kind, detail, question, runId, run } = item;
  return (
    <>
      {detail && kind !== 'effects' && <p class={kind === 'failure' ? 'step-error' : 'prompt'}>{detail}</p>}
      {kind === 'approval' && !detail && <p>Nothing is built before the plan is approved.</p>}
      {question?.tool && (
        <>
          <code>{question.tool}</code>
          <pre class="call-result">{prettyArguments(question.arguments)}</pre>
        </>
      )}
      {kind === 'effects' && runId && <Effects runId={runId} dense />}
      {(kind === 'review' || kind === 'effects') && run && <Outcome run={{ id: runId!, outcome: run.outcome }} />}
      {kind === 'failure' && may('sandboxes:read') && <Failure runId={runId!} />}
    </>
  );
}

/** The end of the log, scrolled to the line that reports the failure. */
function Failure({ runId }: { runId: string }) {
  const { data } = useReading(failedSandbox, { runId });
  const sandbox = data?.run.sandboxes[0];
  return sandbox ? <LastLines sandboxId={sandbox.sandboxId} /> : null;
}
