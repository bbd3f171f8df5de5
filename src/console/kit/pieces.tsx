// Building blocks of every page: cards, statuses, meters, buttons with a confirmation, and placeholders.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { IconName } from '../../surfaces/console/icons.ts';
import { type ProblemBody, problemOf } from './client.ts';
import { useFocusAfterAction } from './focus.ts';
import { Icon } from './icon.tsx';
import { ScrollBlock } from './scroll-block.tsx';

interface CardProperties {
  title: string;
  /** Content next to the title, such as a count or a link to all. */
  aside?: ComponentChildren;
  class?: string;
  children?: ComponentChildren;
}

export function Card({ title, aside, children, class: name = '' }: CardProperties) {
  return (
    <section class={`panel ${name}`} aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  );
}

/** A placeholder with the height of the expected rows, so that the page does not shift when they load. */
export const Skeleton = ({ rows, height = 44 }: { rows: number; height?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, i) => (
      <div key={i} style={{ height: `${height}px` }} />
    ))}
  </div>
);

export const ErrorNote = ({ problem, retry }: { problem: ProblemBody; retry?: (() => void) | undefined }) => (
  <div class="note error trouble" role="alert">
    <div>
      <strong>{problem.title}</strong>
      <div>{problem.description}</div>
    </div>
    {retry && (
      <button type="button" class="quiet slim" onClick={retry}>
        Try again
      </button>
    )}
  </div>
);

interface LoadingProperties {
  problem: ProblemBody | null;
  retry: () => void;
  /** Size of the placeholder. */
  rows: number;
  height: number;
}

/** A placeholder for a record that is being read, or the reason why it cannot be read. */
export const Loading = ({ problem, retry, ...size }: LoadingProperties) =>
  problem ? <ErrorNote problem={problem} retry={retry} /> : <Skeleton {...size} />;

interface LoadedProperties<Value> extends LoadingProperties {
  /** Null or undefined until the record has been read. */
  value: Value | null | undefined;
  children: (value: Value) => ComponentChildren;
}

/** A record, or its placeholder or error until it has been read. The record stays visible when a refresh fails. */
export const Loaded = <Value,>({ value, problem, retry, children, ...size }: LoadedProperties<Value>) => (
  <>
    {problem && <ErrorNote problem={problem} retry={retry} />}
    {value ? children(value) : !problem && <Skeleton {...size} />}
  </>
);

/** The last completed action, announced by screen readers. */
export const StatusMessage = ({ words }: { words: string }) => (
  <div role="status">{words && <p class="note good">{words}</p>}</div>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <div class="empty">{children}</div>;

/** Statuses by their tone, which is a color and an icon. */
const tones = {
  live: ['running', 'approved', 'under way', 'draining'],
  good: [
    'in use',
    'active',
    'on',
    'open',
    'connected',
    'ready',
    'ok',
    'completed',
    'chosen',
    'started',
    'matches',
    'review',
  ].concat(['attempts', 'done', 'allowed', 'verified', 'passed', 'delivered', 'delivering']),
  bad: ['error', 'invalid', 'unreachable', 'failed', 'blocked'],
  warn: [
    'missing',
    'needs auth',
    'needs review',
    'stale',
    'event',
    'not public',
    'unknown host',
    'untrusted',
    'failing',
    'not verified',
    'not tested',
    'record missing',
  ],
  waits: ['dispatching', 'waiting', 'pending', 'provisioning', 'preparing', 'destroying'],
  paused: ['paused', 'interrupted'],
  ask: [
    'on trial',
    'needs approval',
    'needs an answer',
    'needs a decision',
    'needs budget',
    'at a limit',
    'plan',
    'question',
  ].concat(['tool call', 'budget', 'limit', 'effects', 'waits']),
} as const;
const toneOf = new Map<string, IconName>(
  Object.entries(tones).flatMap(([tone, words]) => words.map((word) => [word, tone as IconName])),
);
const spoken: Record<string, string> = { dispatching: 'waiting' };

/** A status as an icon, a word and a color. */
export const Pill = ({ status }: { status: string }) => {
  const tone = toneOf.get(status) ?? 'none';
  return (
    <span class={`pill ${tone}`}>
      <Icon name={tone} />
      {spoken[status] ?? status}
    </span>
  );
};

export const Meter = ({ value, label, tone = '' }: { value: number; label: string; tone?: string }) => {
  const bounded = Math.max(0, Math.min(100, value));
  return (
    <div
      class={`meter ${tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(bounded)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div style={{ width: `${bounded}%` }} />
    </div>
  );
};

interface ActionProperties {
  label: string;
  /** The accessible name, for users who do not see the context. */
  describes?: string;
  class?: string;
  /** Confirmation before the action. */
  question?: string;
  /** Keyboard shortcut of the page for the button. */
  dataKey?: string | undefined;
  /** Runs the action. `key` is an idempotency key, the same for each attempt until one succeeds. */
  act(key: string): Promise<unknown>;
}

/** A button for an action: asks for confirmation if needed, runs once at a time, and shows the error. */
export function Action({ label, describes, class: name = 'quiet slim', question, dataKey, act }: ActionProperties) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const button = useFocusAfterAction(isBusy);
  const dialog = useRef<HTMLDialogElement>(null);
  const key = useRef(crypto.randomUUID());
  const run = () => {
    dialog.current?.close();
    setBusy(true);
    setProblem(null);
    act(key.current)
      .then(() => {
        key.current = crypto.randomUUID();
      })
      .catch((error) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <div class="action">
      <button
        ref={button}
        type="button"
        class={name}
        disabled={isBusy}
        aria-label={describes}
        data-key={dataKey}
        onClick={question ? () => dialog.current?.showModal() : run}
      >
        {label}
      </button>
      {problem && <ErrorNote problem={problem} />}
      {question && (
        <dialog ref={dialog} aria-label={label}>
          <p>{question}</p>
          <div class="actions">
            {/* This button has the focus when the dialog opens, so that a repeated Enter does no harm. */}
            <button type="button" class="quiet" autofocus onClick={() => dialog.current?.close()}>
              Go back
            </button>
            <button type="button" class="danger sure" onClick={run}>
              {describes ?? label}
            </button>
          </div>
        </dialog>
      )}
    </div>
  );
}

/** Commands to copy into a terminal. */
export const Commands = ({ children }: { children: string }) => (
  <ScrollBlock class="commands">
    <code>{children}</code>
  </ScrollBlock>
);
