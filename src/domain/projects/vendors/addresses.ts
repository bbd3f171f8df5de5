// Addresses of vendors: their own, or that of a compatible server that the organization has chosen.

import { seconds } from '#foundation/clock.ts';
import { endpointOf } from '#foundation/http/addresses.ts';
import { checkAddress, OutboundError } from '#foundation/http/outbound.ts';
import { invalid } from '#foundation/problem.ts';
import type { Integration, Vendor } from '../integrations/model.ts';

const lookupTimeoutMs = seconds(3);

/** Base addresses of trackers and source hosts, without a trailing slash. */
export interface VendorAddresses {
  linear: string;
  github: string;
}

let bound: VendorAddresses | undefined;

/** Binds the addresses; called once at start. */
export function bindVendorAddresses(addresses: VendorAddresses): void {
  bound = addresses;
}

export type RemoteVendor = Exclude<Vendor, 'builtin'>;

/** OpenAI's base address contains the version, Anthropic's does not; the same holds for compatible servers. */
const ownAddresses: Readonly<Record<RemoteVendor, () => string>> = {
  anthropic: () => 'https://api.anthropic.com',
  openai: () => 'https://api.openai.com/v1',
  linear: () => required().linear,
  github: () => required().github,
};

function required(): VendorAddresses {
  if (!bound) throw new Error('the addresses of the vendors are not bound');
  return bound;
}

/** The address without a trailing slash. */
export const addressOf = ({ vendor, baseUrl }: Pick<Integration, 'vendor' | 'baseUrl'>): string =>
  baseUrl ?? ownAddresses[vendor as RemoteVendor]();

/** Vendors whose servers third parties run: compatible model servers, GitHub Enterprise Server. */
const vendorsElsewhere: readonly Vendor[] = ['anthropic', 'openai', 'github'];

/** The normalized address. @throws 400 for an address that the service must not call (foundation/http/outbound.ts) */
export async function checkBaseUrl(vendor: Vendor, value: string): Promise<string> {
  if (!vendorsElsewhere.includes(vendor)) throw invalid.field('baseUrl', `must be absent for ${vendor}`);
  const address = endpointOf(value);
  if (!address) throw invalid.field('baseUrl', 'must be an https address without user, query and fragment');
  await checkAddress(address, AbortSignal.timeout(lookupTimeoutMs)).catch((error) => {
    if (!(error instanceof OutboundError)) throw error;
    throw invalid.field('baseUrl', 'must be at a public address, by https on port 443');
  });
  return address;
}
