// Calls to vendors of language models.
import type { VendorConnection } from '../connection.ts';

/** The headers of a call, including the credentials. */
export const headersOf = ({ vendor, credentials }: VendorConnection): Record<string, string> => ({
  accept: 'application/json',
  ...(vendor === 'anthropic'
    ? { 'x-api-key': credentials, 'anthropic-version': '2023-06-01' }
    : { authorization: `Bearer ${credentials}` }),
});

/** The path of an API method, relative to `addressOf`, which for Anthropic does not contain the version. */
export const modelPath = ({ vendor }: VendorConnection, path: string): string =>
  vendor === 'anthropic' ? `/v1${path}` : path;
