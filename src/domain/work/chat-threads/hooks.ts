// The hook of a chat connection: the URL to which the vendor sends events, and the settings of the app at the vendor.
import { addresses } from '#foundation/http/addresses.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { InboundHook } from '../inbound-hooks/model.ts';

export interface ConnectionHook {
  integrationId: string;
  hookId: string;
  address: string;
  manifest: string;
}

/** The hooks of connections. */
export async function findHooks(integrationIds: readonly string[]): Promise<ConnectionHook[]> {
  const hooks = await InboundHook.findByKeys('integrationId', integrationIds);
  const connectors = await Integration.findByKeys('id', integrationIds);
  return hooks.flatMap((hook) => connectors.filter(({ id }) => id === hook.integrationId).map((one) => of(hook, one)));
}

function of({ id: hookId }: InboundHook, { id: integrationId, vendor }: Integration): ConnectionHook {
  const address = `${addresses().baseHost}/hooks/${hookId}`;
  return { integrationId, hookId, address, manifest: moduleOf(vendor).chat?.manifest(address) ?? '' };
}
