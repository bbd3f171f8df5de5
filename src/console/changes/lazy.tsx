// Content that is rendered only near the viewport. Elsewhere a placeholder has its last known or estimated height.
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Distance from the viewport within which content is rendered. */
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
        // A form with the focus stays rendered.
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

/** Whether the element is near the viewport, or has been. @param isFirst Whether the element counts as near from the start */
export function useOnceNear(place: RefObject<HTMLElement | null>, isFirst: boolean): boolean {
  const [wasNear, setWasNear] = useState(isFirst);
  useLayoutEffect(() => {
    if (wasNear) return;
    const it = place.current!;
    seen.set(it, (isNear) => isNear && setWasNear(true));
    observer.observe(it);
    return () => observer.unobserve(it);
  }, [wasNear]);
  return wasNear;
}
