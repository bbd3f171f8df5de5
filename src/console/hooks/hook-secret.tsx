// The secret and the URL of a hook, for the settings of its sender.
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
    <HookUrl hook={hook} />
  </ShownSecret>
);

/** The URL of the hook, and instructions for the settings of the sender. */
export const HookUrl = ({ hook: { address, vendor } }: { hook: Pick<HookSecret['hook'], 'address' | 'vendor'> }) => (
  <>
    <h3>URL</h3>
    <div class="secret">
      <code>{address}</code>
      <Copy text={address} label="Copy" describes="Copy URL" />
    </div>
    <p class="hint after">{senderSettings[vendor]}</p>
  </>
);
