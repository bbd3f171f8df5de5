// The secret and the address of a hook, for the settings of its sender.
import type { CreateInboundHookMutation } from '../generated/documents.ts';
import { Copy } from '../kit/copy-as.tsx';
import { ShownSecret } from '../kit/shown-secret.tsx';
import { senderSettings } from '../kit/vendors.tsx';

export type HookSecret = CreateInboundHookMutation['created'];

export const Secret = ({ created: { hook, secret }, close }: { created: HookSecret; close(): void }) => (
  <ShownSecret
    noun="secret"
    secret={secret}
    title={
      <>
        <bdi>{hook.name}</bdi> can receive events.
      </>
    }
    close={close}
  >
    <Address hook={hook} />
  </ShownSecret>
);

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
