// Scroll positions of the pages: Back and Forward, and a reload, return to where the person was, once the page is as long again.

const placeOf = (): string => `scroll ${location.pathname}${location.search}`;

/** Milliseconds in which a page may become as long as it was. */
const giveUpMs = 5_000;
let stop: (() => void) | null = null;

function restore(): void {
  stop?.();
  const wanted = Number(sessionStorage.getItem(placeOf()) ?? 0);
  const sizes = new ResizeObserver(() => scrollTo(0, wanted));
  const timer = setTimeout(() => stop?.(), giveUpMs);
  // Who scrolls meanwhile is not scrolled back.
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
    // Positions on the way back are not the person's.
    if (!stop) sessionStorage.setItem(placeOf(), String(Math.round(scrollY)));
  };
  addEventListener('scroll', keep, { passive: true });
  addEventListener('popstate', restore);
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (entry && entry.type !== 'navigate') restore();
}
