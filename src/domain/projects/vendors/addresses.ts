// Base URLs of vendors: the vendor's own, or a compatible server that the organization has chosen.
import { seconds } from '#foundation/clock.ts';
import { endpointOf } from '#foundation/http/addresses.ts';
import { checkAddress, OutboundError } from '#foundation/http/outbound.ts';
import { invalid } from '#foundation/problem.ts';
import { type Integration, profiles, type Vendor } from '../integrations/model.ts';

const lookupTimeoutMs = seconds(3);

/** Base URLs from the settings that replace the vendors' own, without a trailing slash. */
export type VendorAddresses = Readonly<Partial<Record<Vendor, string>>>;

let bound: VendorAddresses | undefined;

/** Sets the URLs; called once at startup. */
export function bindVendorAddresses(addresses: VendorAddresses): void {
  bound = addresses;
}

/** The URL without a trailing slash. */
export const addressOf = ({ vendor, baseUrl }: Pick<Integration, 'vendor' | 'baseUrl'>): string =>
  baseUrl ?? ownAddressOf(vendor);

/** Host name of the web pages of a connector's server. */
export const serverOf = (connector: Pick<Integration, 'vendor' | 'baseUrl'>): string =>
  new URL(addressOf(connector)).host.replace(/^api\./, '');

function ownAddressOf(vendor: Vendor): string {
  if (!bound) throw new Error('the base URLs of the vendors have not been set');
  return bound[vendor] ?? profiles[vendor].address!;
}

/** The normalized URL. @throws 400 for a URL that the service must not call (foundation/http/outbound.ts) */
export async function checkBaseUrl(vendor: Vendor, value: string): Promise<string> {
  if (!profiles[vendor].hasOtherServers) throw invalid.field('baseUrl', `must be absent for ${vendor}`);
  const address = endpointOf(value);
  if (!address) throw invalid.field('baseUrl', 'must be an https URL without user, query and fragment');
  await checkAddress(address, AbortSignal.timeout(lookupTimeoutMs)).catch((error) => {
    if (!(error instanceof OutboundError)) throw error;
    throw invalid.field('baseUrl', 'must be an https URL of a public host, on port 443');
  });
  return address;
}
