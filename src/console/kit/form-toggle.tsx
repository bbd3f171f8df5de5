// A form that replaces the button with which it was opened.
import type { ComponentChildren } from 'preact';
import { useReplacedButton } from './focus.ts';
import { may } from './page.ts';

interface Properties {
  /** Scope that a person needs to see the button. */
  scope: string;
  /** The accessible name of the button. */
  label: string;
  /** Called when the form is closed. */
  read(): void;
  children(done: () => void): ComponentChildren;
}

export function FormToggle({ scope, label, read, children }: Properties) {
  const { isOpen, setOpen, button } = useReplacedButton();
  const done = () => {
    setOpen(false);
    read();
  };
  if (isOpen) return <>{children(done)}</>;
  return (
    may(scope) && (
      <div class="actions">
        <button ref={button} type="button" class="quiet slim" aria-label={label} onClick={() => setOpen(true)}>
          Change
        </button>
      </div>
    )
  );
}
