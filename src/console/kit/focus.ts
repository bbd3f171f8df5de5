// The focus of buttons and of the forms that they open: it moves into the form, and back to the button when the form closes or the action
// of the button is done.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

const fields = 'input:not([type="radio"]:not(:checked)), select, textarea';
/** The body has the focus when the focused element was removed or disabled. */
const hasNoFocus = (): boolean => document.activeElement === document.body;

/** Moves the focus into a form that was opened; then back to the button that opened it, if the page still shows this button. */
export function useFocusWhileOpen(form: { current: HTMLFormElement | null }, isOpened: boolean): void {
  useLayoutEffect(() => {
    if (!isOpened) return;
    const opener = document.activeElement as HTMLElement;
    form.current?.querySelector<HTMLElement>(fields)?.focus();
    return () => {
      if (opener.isConnected && (hasNoFocus() || form.current?.contains(document.activeElement))) opener.focus();
    };
  }, []);
}

/** The button that gets the focus when `isAway` ends, if the focus was lost meanwhile. */
function useFocusBack(isAway: boolean, options?: FocusOptions) {
  const button = useRef<HTMLButtonElement>(null);
  const wasAway = useRef(false);
  useLayoutEffect(() => {
    if (wasAway.current && !isAway && hasNoFocus()) button.current?.focus(options);
    wasAway.current = isAway;
  }, [isAway]);
  return button;
}

/** Gives a button the focus again that it lost when it was disabled during its action. */
export const useFocusAfterAction = (isBusy: boolean) => useFocusBack(isBusy, { preventScroll: true });

/** The state of a form that replaces the button which opens it. When the form has closed, the new button gets the focus. */
export function useReplacedButton() {
  const [isOpen, setOpen] = useState(false);
  return { isOpen, setOpen, button: useFocusBack(isOpen) };
}
