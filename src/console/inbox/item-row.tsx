// One item of the inbox in one line.
import { Pill } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';
import { outcomeWords } from '../missions/run-state.tsx';
import type { Item } from './acts.ts';

const kindWords: Record<Item['kind'], string> = {
  approval: 'plan',
  answer: 'question',
  decision: 'tool call',
  budget: 'budget',
  limit: 'limit',
  spending: 'limit',
  event: 'event',
  attempts: 'attempts',
  review: 'review',
  effects: 'effects',
  failure: 'failed',
};

export const titleOfItem = ({ title }: Item): string => title ?? 'Untitled mission';

/** The item in a few words. */
const remarkOf = ({ kind, detail, question, run }: Item): string => {
  if (kind === 'approval') return detail?.split('\n', 1)[0] ?? 'Its plan waits for an approval';
  if (kind === 'decision') return `${question?.tool ?? ''}: ${detail ?? ''}`;
  if (kind === 'review') return (run && outcomeWords(run)) ?? 'Changes pushed';
  return detail ?? '';
};

interface Properties {
  item: Item;
  isSelected: boolean;
  /** Whether the detail is shown below the row instead of next to the list. */
  isFolding: boolean;
  select(): void;
}

export function ItemRow({ item, isSelected, isFolding, select }: Properties) {
  const { id, kind, since, project, delivery } = item;
  return (
    <button
      type="button"
      class="inbox-row"
      data-item={id}
      onClick={select}
      {...(isFolding ? { 'aria-expanded': isSelected } : { 'aria-current': isSelected })}
    >
      <Pill status={kindWords[kind]} />
      <span class="inbox-title">{titleOfItem(item)}</span>
      <span class="inbox-remark muted">{remarkOf(item)}</span>
      <span class="inbox-place muted">{project?.name ?? delivery?.hook?.name}</span>
      <span class="when">
        <Time at={since} />
      </span>
    </button>
  );
}
