// The heading of a page: its title, which is also the title of the tab, and links to the parent pages. It gets the focus after a
// navigation, so that a screen reader announces the page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { firstTitle, may, pageAt } from './page.ts';
import { setTitle } from './page-title.ts';

let hasNavigated = false;
export const noteNavigation = (): void => {
  hasNavigated = true;
};

/**
 * The name of a parent page is never cut if it has at most this many characters. A narrow window cuts longer names, so their links show the
 * whole name in a tooltip.
 */
const wholeCharacters = 16;

interface Properties {
  /** The title; null while the page is loading. */
  title: string | null;
  above?: readonly (readonly [address: string, name: string])[];
  /** Actions of the page. */
  children?: ComponentChildren;
}

export function Heading({ title, above = [], children }: Properties) {
  const heading = useRef<HTMLHeadingElement>(null);
  const visibleTitle = title ?? (hasNavigated ? '…' : firstTitle);
  useEffect(() => {
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    setTitle(visibleTitle);
  }, [visibleTitle]);
  return (
    <>
      {above.length > 0 && (
        <nav class="breadcrumbs" aria-label="Breadcrumbs">
          <ol>
            {above.map(([address, name]) => (
              <li key={address}>
                <a href={address} title={name.length > wholeCharacters ? name : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="heading">
        <h1 ref={heading} tabIndex={-1}>
          {visibleTitle}
        </h1>
        {children && <div class="actions">{children}</div>}
      </div>
    </>
  );
}

interface CreateLinkProperties {
  /** Scope that a person needs to see the link. */
  scope: string;
  path: string;
  label: string;
}

/** A link in the heading to the page that creates a record. */
export const CreateLink = ({ scope, path, label }: CreateLinkProperties) =>
  may(scope) && (
    <a class="button slim" href={pageAt(path)}>
      {label}
    </a>
  );
