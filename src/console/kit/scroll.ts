// Scroll positions of the pages: Back, Forward and a reload return to the position, once the page is long enough.

const placeOf = (): string => `scroll ${location.pathname}${location.search}`;

/** Time limit, in milliseconds, for a page to grow to its earlier length. */
const giveUpMs = 5_000;
let stop: (() => void) | null = null;

function restore(): void {
  stop?.();
  const wanted = Number(sessionStorage.getItem(placeOf()) ?? 0);
  const sizes = new ResizeObserver(() => scrollTo(0, wanted));
  const timer = setTimeout(() => stop?.(), giveUpMs);
  // If the person scrolls before the position is restored, the restoration stops.
  const own = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
  stop = () => {
    stop = null;
    sizes.disconnect();
    clearTimeout(timer);
    for (const kind of own) removeEventListener(kind, cancel);
  };
  const cancel = () => stop?.();
  for (const kind of own) addEventListener(kind, cancel, { passive: true });
  sizes.observe(document.body);
}

export function keepScroll(): void {
  history.scrollRestoration = 'manual';
  const keep = () => {
    // Positions during a restoration are not stored, because the person did not scroll there.
    if (!stop) sessionStorage.setItem(placeOf(), String(Math.round(scrollY)));
  };
  addEventListener('scroll', keep, { passive: true });
  addEventListener('popstate', restore);
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (entry && entry.type !== 'navigate') restore();
}
