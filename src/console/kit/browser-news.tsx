// Browser notifications about the person's missions, while a page of the console is open, even if hidden.
import { useEffect } from 'preact/hooks';
import { type MissionNewsSubscription, missionNews } from '../generated/documents.ts';

type Notice = MissionNewsSubscription['missionNews']['notices'][number];

/**
 * Name of two things: the lock held by the page that shows the notifications, and the storage entry with the ids of the notices that were
 * already shown.
 */
const shared = 'mission-news';
/** Maximum number of stored ids, which is more than the number of notices in one event. */
const keptIds = 100;
/** Milliseconds until a lost connection is opened again. */
const retryMs = 10_000;
const allowed = new EventTarget();

/** `absent`: the browser has no notifications, or none for pages without TLS. */
export const browserPermission = (): NotificationPermission | 'absent' =>
  'Notification' in window && navigator.locks ? Notification.permission : 'absent';

export async function allowBrowserNews(): Promise<NotificationPermission> {
  const permission = await Notification.requestPermission();
  allowed.dispatchEvent(new Event('change'));
  return permission;
}

/** One page in the browser holds the lock and the connection; when it closes, another page takes over. */
export function BrowserNews() {
  useEffect(() => {
    const leaving = new AbortController();
    const begin = () => {
      if (browserPermission() !== 'granted') return;
      navigator.locks.request(shared, { signal: leaving.signal }, () => follow(leaving.signal)).catch(() => {});
    };
    begin();
    allowed.addEventListener('change', begin, { once: true });
    return () => leaving.abort();
  }, []);
  return null;
}

const follow = (signal: AbortSignal) =>
  new Promise<void>((end) => {
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      source = new EventSource(`/graphql?${new URLSearchParams({ query: missionNews.text })}`);
      source.addEventListener('next', ({ data: text }: MessageEvent<string>) => {
        const { data } = JSON.parse(text) as { data?: MissionNewsSubscription };
        if (data) show(data.missionNews.notices);
      });
      source.addEventListener('complete', retry);
      source.addEventListener('error', retry);
    };
    const retry = () => {
      source?.close();
      clearTimeout(again);
      again = setTimeout(connect, retryMs);
    };
    signal.addEventListener('abort', () => {
      source?.close();
      clearTimeout(again);
      end();
    });
    connect();
  });

/** Shows the notices that no page of this browser has shown. */
function show(notices: readonly Notice[]): void {
  const shown: string[] = JSON.parse(localStorage.getItem(shared) ?? '[]');
  for (const { id, title, body, url } of notices) {
    if (shown.includes(id)) continue;
    shown.push(id);
    const notification = new Notification(title, { body, tag: id, icon: '/console/icon.svg' });
    notification.onclick = () => {
      window.focus();
      location.assign(url);
    };
  }
  localStorage.setItem(shared, JSON.stringify(shown.slice(-keptIds)));
}
