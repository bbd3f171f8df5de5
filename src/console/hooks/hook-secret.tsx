// The secret of a hook, which is shown only on the page that set it, until the person leaves that page.
import { useEffect, useRef } from 'preact/hooks';
import type { CreateInboundHookMutation } from '../generated/documents.ts';
import { Copy } from '../kit/copy-as.tsx';
import { senderSettings } from '../kit/vendors.tsx';

export type HookSecret = CreateInboundHookMutation['created'];

export function Secret({ created: { hook, secret }, close }: { created: HookSecret; close(): void }) {
  const note = useRef<HTMLDivElement>(null);
  // Moves the focus to the secret, because the form that had the focus is no longer on the page.
  useEffect(() => note.current?.focus(), []);
  return (
    <>
      <div class="note good" role="status" ref={note} tabIndex={-1}>
        <strong>
          <bdi>{hook.name}</bdi> can receive events.
        </strong>
        <div>Copy the secret now. You won’t see it again.</div>
      </div>
      <h3>Secret</h3>
      <div class="secret">
        <code>{secret}</code>
        <Copy text={secret} label="Copy" describes="Copy secret" />
      </div>
      <Address hook={hook} />
      <div class="actions after-rows">
        <button type="button" class="quiet slim" onClick={close}>
          Done
        </button>
      </div>
    </>
  );
}

/** The address of the hook, and instructions for the settings of the sender. */
export const Address = ({ hook: { address, vendor } }: { hook: Pick<HookSecret['hook'], 'address' | 'vendor'> }) => (
  <>
    <h3>Address</h3>
    <div class="secret">
      <code>{address}</code>
      <Copy text={address} label="Copy" describes="Copy address" />
    </div>
    <p class="hint after">{senderSettings[vendor]}</p>
  </>
);
