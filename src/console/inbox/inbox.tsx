// The inbox, which is the first page. It shows the items that wait for the person, most urgent first. The person can settle an item with the
// mouse or the keyboard.
import { useRef } from 'preact/hooks';
import { CopyAs } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { useMedia } from '../kit/media.ts';
import { may, pageAt } from '../kit/page.ts';
import { Card, Empty, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useFilter } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';
import type { Item } from './acts.ts';
import { useInboxKeys } from './inbox-keys.ts';
import { ItemDetail } from './item-detail.tsx';
import { ItemRow } from './item-row.tsx';
import { useInbox } from './use-inbox.ts';

/** Width from which the detail is shown next to the list. */
const wide = matchMedia('(min-width: 1200px)');

export function Inbox() {
  const [mine, setMine] = useFilter('mine');
  const [hidden, setHidden] = useFilter('hidden');
  return (
    <>
      <Heading title="Inbox">
        <CopyAs
          path="/inbox"
          client="client.inbox()"
          cli="aep inbox"
          graphql="{ inbox { data { id kind title detail } } }"
        />
        <a class="button quiet slim" href={pageAt('/notifications')}>
          Notifications
        </a>
      </Heading>
      <div class="filters">
        <Toggle label="Mine" isOn={mine !== null} set={setMine} />
        <Toggle label="Hidden" isOn={hidden !== null} set={setHidden} />
      </div>
      <Items key={`${mine} ${hidden}`} mine={mine !== null} hidden={hidden !== null} />
    </>
  );
}

function Items({ mine, hidden }: { mine: boolean; hidden: boolean }) {
  const isWide = useMedia(wide);
  const state = useInbox({ mine, hidden, selectsFirst: isWide });
  const box = useRef<HTMLDivElement>(null);
  const { items, selected } = state;
  useInboxKeys(box, state);
  const detail = selected && (
    <ItemDetail
      key={selected.id}
      item={selected}
      isHidden={hidden}
      isBusy={state.isBusy}
      problem={state.refusal}
      perform={state.perform}
      finish={state.finish}
      snooze={state.snooze}
    />
  );
  const rows = (part: readonly Item[]) => (
    <ul class="inbox-rows">
      {part.map((item) => (
        <li key={item.id}>
          <ItemRow
            item={item}
            isSelected={item === selected}
            isFolding={!isWide}
            select={() => state.select(item === selected && !isWide ? null : item)}
          />
          {!isWide && item === selected && detail}
        </li>
      ))}
    </ul>
  );
  return (
    <div ref={box}>
      <div role="status" class="inbox-said">
        {state.status}{' '}
        {state.undo && (
          <button type="button" class="link" onClick={state.undo}>
            Undo{' '}
            <span class="key" aria-hidden="true">
              z
            </span>
          </button>
        )}
      </div>
      {state.problem && <ErrorNote problem={state.problem} retry={state.read} />}
      <div class={`inbox ${isWide && detail ? 'beside' : ''}`}>
        <div class="column">
          {items === null && !state.problem && <Skeleton rows={8} height={36} />}
          {items?.length === 0 && <Nothing isHidden={hidden} isMine={mine} />}
          {items && <Groups items={items} rows={rows} />}
          {state.hasMore && (
            <button type="button" class="quiet slim" onClick={state.loadMore}>
              Load more
            </button>
          )}
        </div>
        {isWide && detail && <div class="panel inbox-aside">{detail}</div>}
      </div>
      {items && items.length > 0 && <Hint />}
    </div>
  );
}

const Toggle = ({ label, isOn, set }: { label: string; isOn: boolean; set(value: string | null): void }) => (
  <button type="button" class="quiet slim toggle" aria-pressed={isOn} onClick={() => set(isOn ? null : 'true')}>
    {label}
  </button>
);

/** Items that block a mission, then all other items. */
const Groups = ({ items, rows }: { items: readonly Item[]; rows(part: readonly Item[]): preact.JSX.Element }) =>
  ([true, false] as const).map((isUrgent) => {
    const part = items.filter((item) => item.isUrgent === isUrgent);
    return (
      part.length > 0 && (
        <Card
          key={String(isUrgent)}
          title={isUrgent ? 'Needs you now' : 'To look at'}
          aside={plural(part.length, 'item')}
        >
          {rows(part)}
        </Card>
      )
    );
  });

const Hint = () => (
  <p class="muted small inbox-hint">
    <kbd>j</kbd> <kbd>k</kbd> move · <kbd>↵</kbd> open · <kbd>a</kbd> approve · <kbd>d</kbd> deny · <kbd>r</kbd> write ·{' '}
    <kbd>e</kbd> done · <kbd>s</kbd> snooze · <kbd>z</kbd> undo
  </p>
);

function Nothing({ isHidden, isMine }: { isHidden: boolean; isMine: boolean }) {
  if (isHidden)
    return (
      <Empty>
        Nothing is hidden. Items that you mark as done or snooze are listed here as long as they need an answer.
      </Empty>
    );
  return (
    <Card title="Nothing needs you">
      <Empty>
        <p>
          Plans to approve, questions of agents, tool calls, limits, events, reviews and failures appear here, for{' '}
          {isMine ? 'your own missions' : 'every mission that you may act on'}. The list updates itself.
        </p>
        {may('missions:run') ? (
          <div class="actions">
            <a class="button slim" href={pageAt('/runs/new')}>
              Start mission
            </a>
            <a class="button quiet slim" href={pageAt('/overview')}>
              Open overview
            </a>
          </div>
        ) : (
          <p>You can only read missions. People who can run missions act on these items.</p>
        )}
      </Empty>
    </Card>
  );
}
