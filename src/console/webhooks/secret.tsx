// The secret of an endpoint, which is shown only on the page that set it, until the person leaves that page.
import { useEffect, useRef } from 'preact/hooks';
import type { CreateWebhookEndpointMutation } from '../generated/documents.ts';
import { Copy } from '../kit/copy-as.tsx';

export type EndpointSecret = CreateWebhookEndpointMutation['created'];

export function Secret({ created: { endpoint, secret }, close }: { created: EndpointSecret; close(): void }) {
  const note = useRef<HTMLDivElement>(null);
  // Moves the focus to the secret, because the form that had the focus is no longer on the page.
  useEffect(() => note.current?.focus(), []);
  return (
    <>
      <div class="note good" role="status" ref={note} tabIndex={-1}>
        <strong>
          <bdi>{endpoint.name}</bdi> gets events.
        </strong>
        <div>Copy the secret now. You won’t see it again. The receiver verifies signatures with it.</div>
      </div>
      <h3>Secret</h3>
      <div class="secret">
        <code>{secret}</code>
        <Copy text={secret} label="Copy" describes="Copy secret" />
      </div>
      <div class="actions after-rows">
        <button type="button" class="quiet slim" onClick={close}>
          Done
        </button>
      </div>
    </>
  );
}
