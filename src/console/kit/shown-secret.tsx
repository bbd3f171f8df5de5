// A secret that is shown only on the page that has set it, until the person leaves that page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Copy } from './copy-as.tsx';

interface Properties {
  noun: 'secret' | 'token';
  secret: string;
  title: ComponentChildren;
  /** The purpose of the secret. The note shows it after the sentence that asks the person to copy the secret. */
  use?: ComponentChildren;
  /** Content between the secret and the Done button. The button closes the whole note. */
  children?: ComponentChildren;
  close(): void;
}

export function ShownSecret({ noun, secret, title, use, children, close }: Properties) {
  const note = useRef<HTMLDivElement>(null);
  // Moves the focus to the secret, because the form that had the focus is no longer on the page.
  useEffect(() => note.current?.focus(), []);
  return (
    <>
      <div class="note good" role="status" ref={note} tabIndex={-1}>
        <strong>{title}</strong>
        <div>
          Copy the {noun} now. You won’t see it again. {use}
        </div>
      </div>
      <div class="secret">
        <code>{secret}</code>
        <Copy text={secret} label="Copy" describes={`Copy ${noun}`} />
      </div>
      {children}
      <div class="actions after-rows">
        <button type="button" class="quiet slim" onClick={close}>
          Done
        </button>
      </div>
    </>
  );
}
