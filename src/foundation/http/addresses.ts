// The public addresses of the service, as seen by clients, without trailing slashes. Set once at start; no other code contains a host.
import { isIP } from 'node:net';

export interface Addresses {
  /** `{base_host}`: the origin of the API, and its resource identifier (RFC 8707). */
  baseHost: string;
  /** `{issuer_url}`: the authorization server and the console. */
  issuer: string;
  /** `{mcp_url}`: the origin of the MCP server; its resource identifier is `{mcp_url}/mcp`. */
  mcp: string;
  /** `{a2a_url}`: the agent-to-agent endpoint and its resource identifier. */
  a2a: string;
}

let bound: Addresses | undefined;

export function bindAddresses(addresses: Addresses): void {
  bound = addresses;
}

export function addresses(): Addresses {
  if (!bound) throw new Error('the public addresses are not set');
  return bound;
}

/** `{base_url}`: the prefix of the API's paths. */
export const baseUrl = (): string => `${addresses().baseHost}/v1`;
/** The path prefix of an organization's console pages. */
export const organizationPath = (slug: string): string => `/console/o/${slug}`;
/** RFC 9728: the metadata that a 401 of the API refers to. */
export const apiResourceMetadata = (): string => `${addresses().baseHost}/.well-known/oauth-protected-resource`;

/** Whether the text is an http(s) URL without user, query and fragment. A bare `?` or `#` is not allowed either. */
export const isPlainAddress = (value: string): boolean =>
  /^https?:\/\/[^/]/i.test(value) && !/[?#@\\\s]/.test(value) && URL.canParse(value);

/** The origin of a URL (scheme, host and port) without a trailing slash, as all documents and tokens of the service spell it. */
export const originOf = (value: string): string | undefined =>
  isPlainAddress(value) && new URL(value).pathname === '/' ? new URL(value).origin : undefined;

/** Scheme, host, port and path without a trailing slash. */
export const endpointOf = (value: string): string | undefined =>
  isPlainAddress(value) ? new URL(value).href.replace(/\/+$/, '') : undefined;

/** Whether a host name or address refers to this machine only. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

export const identifier = 'an https address without query or fragment (http on loopback only)';
/** Whether the text can be an issuer identifier (RFC 8414 §2), or the URL to fetch keys from. Both are compared as written. */
export const isIdentifier = (value: string): boolean =>
  isPlainAddress(value) && (value.startsWith('https:') || isLoopback(new URL(value).hostname));
