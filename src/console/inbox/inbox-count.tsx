// Shows the number of items in the inbox in three places: in the menu, on the button that opens the menu on a phone, and in the title of the
// browser tab.
import { useEffect } from 'preact/hooks';
import { inboxCount, inboxLive } from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { useLive } from '../kit/live.ts';
import { may, pageAt } from '../kit/page.ts';
import { countWords, setTitleCount } from '../kit/page-title.ts';

/** Interval at which a hidden page reads the count, because it keeps no connection open. */
const hiddenIntervalMs = 60_000;
const changes = new EventTarget();

/** Calls the listener when the inbox may have changed. */
export function useInboxChanges(listener: () => void): void {
  useEffect(() => {
    changes.addEventListener('change', listener);
    return () => changes.removeEventListener('change', listener);
  }, [listener]);
}

export function showInboxCount(count: number): void {
  setTitleCount(count);
  for (const place of document.querySelectorAll(`.menu nav a[href="${pageAt('/inbox')}"], .menu-button`)) {
    const badge = place.querySelector('.count') ?? place.appendChild(document.createElement('span'));
    badge.className = 'count';
    badge.textContent = count > 0 ? countWords(count) : '';
  }
}

function take(count: number): void {
  showInboxCount(count);
  changes.dispatchEvent(new Event('change'));
}

const read = () =>
  void ask(inboxCount, {}).then(
    (data) => take(data.inboxCount.count),
    () => {},
  );

export const InboxCount = () => (may('missions:read') ? <Following /> : null);

function Following() {
  useLive({
    operation: inboxLive,
    variables: {},
    take: ({ inboxUpdated }) => take(inboxUpdated.count),
    poll: read,
    isOver: () => false,
  });
  useEffect(() => {
    const reading = setInterval(() => document.hidden && read(), hiddenIntervalMs);
    return () => clearInterval(reading);
  }, []);
  return null;
}
