// Content that exists only near the view: elsewhere its last known height, or an estimate, takes its place.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Distance from the view at which content appears, and beyond which it goes. */
const margin = '1200px';

const seen = new WeakMap<Element, (isNear: boolean) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) seen.get(target)?.(isIntersecting);
  },
  { rootMargin: `${margin} 0px` },
);

interface Properties {
  /** Estimated height in pixels. */
  height: number;
  children: () => ComponentChildren;
}

export function Lazy({ height, children }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  const measured = useRef<number | null>(null);
  useLayoutEffect(() => {
    const it = box.current!;
    seen.set(it, (near) => {
      if (!near && it.childElementCount > 0) {
        // A form that is being written in stays.
        if (it.contains(document.activeElement)) return;
        measured.current = it.offsetHeight;
      }
      setNear(near);
    });
    observer.observe(it);
    return () => observer.unobserve(it);
  }, []);
  return (
    <div ref={box} style={isNear ? {} : { height: `${measured.current ?? height}px` }}>
      {isNear && children()}
    </div>
  );
}
