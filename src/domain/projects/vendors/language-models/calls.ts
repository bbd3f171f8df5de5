// Calls to vendors of language models.
import type { VendorConnection } from '../connection.ts';

/** The headers of a call, including the credentials. */
export const headersOf = ({ vendor, credentials }: VendorConnection): Record<string, string> => ({
  accept: 'application/json',
  ...(vendor === 'anthropic'
    ? { 'x-api-key': credentials, 'anthropic-version': '2023-06-01' }
    : { authorization: `Bearer ${credentials}` }),
});

/**
 * Returns the path of an API method, which is appended to the base URL of the vendor. The base URL of Anthropic does not contain the version of
 * the API, so the version is added to the path.
 */
export const modelPath = ({ vendor }: VendorConnection, path: string): string =>
  vendor === 'anthropic' ? `/v1${path}` : path;
