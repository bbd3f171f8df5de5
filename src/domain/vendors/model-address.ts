// Where the models of an organization are: the vendor's own address, or a compatible server that the organization has chosen.
import { endpointOf } from '#foundation/addresses.ts';
import { seconds } from '#foundation/clock.ts';
import { checkAddress, OutboundError } from '#foundation/outbound.ts';
import { invalid } from '#foundation/problem.ts';
import type { ModelVendor } from '../agents/catalog.ts';
import type { Integration } from '../integrations/model.ts';

const lookupTimeoutMs = seconds(3);

/** OpenAI's contains the version, Anthropic's does not: so do the addresses of compatible servers. */
const vendorAddresses: Readonly<Record<ModelVendor, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
};

/** Without a slash at its end. */
export const modelAddress = ({ vendor, baseUrl }: Pick<Integration, 'vendor' | 'baseUrl'>): string =>
  baseUrl ?? vendorAddresses[vendor as ModelVendor];

/** The address as it is stored. @throws 400 for one that the service must not call (foundation/outbound.ts) */
export async function checkBaseUrl(value: string): Promise<string> {
  const address = endpointOf(value);
  if (!address) throw invalid('baseUrl: must be an https address without user, query and fragment.');
  await checkAddress(address, AbortSignal.timeout(lookupTimeoutMs)).catch((error) => {
    if (!(error instanceof OutboundError)) throw error;
    throw invalid('baseUrl: must be at a public address, by https on port 443.');
  });
  return address;
}
