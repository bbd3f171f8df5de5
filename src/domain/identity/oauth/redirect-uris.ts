// Checks the redirect URIs that may receive a code, and compares requested with registered URIs (RFC 8252 §7 and §8.4; RFC 9700 §2.1;
// docs/contract.md#redirect-addresses). They are compared as written, without normalization.
import { text } from '#limits.ts';

/** Schemes that do not open an app, or whose content would be executed. */
const refusedSchemes = new Set(
  'javascript data vbscript file blob about filesystem view-source ws wss ftp mailto tel chrome intent'.split(' '),
);

const hosts = /^(?:[a-z0-9-]+\.)*[a-z0-9-]+\.?$|^\[[0-9a-f:.]+\]$/i;
const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** The problem with a redirect URI, worded as the end of a sentence; null for a valid URI. */
export function redirectUriError(uri: string): string | null {
  if (uri.length > text.redirectUri.max) return `must be at most ${text.redirectUri.max} characters`;
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\*"<>^`{|}]/.test(uri)) return 'must be an absolute URI, without wildcards';
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.+)$/i.exec(uri) ?? [];
  if (!scheme || !URL.canParse(uri)) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must have no fragment';
  const authority = /^\/\/([^/?]*)/.exec(rest)?.[1];
  if (authority?.includes('@')) return 'must have no user';
  const kind = scheme.toLowerCase();
  if (kind === 'https' || kind === 'http') return webAddressError(kind, authority);
  return refusedSchemes.has(kind) ? `must not be a ${kind}: address` : null;
}

function webAddressError(kind: 'http' | 'https', authority: string | undefined): string | null {
  const [, host = ''] = /^(.*?)(?::\d{1,5})?$/.exec(authority ?? '') ?? [];
  if (!hosts.test(host)) return 'must name a host';
  if (kind === 'https' || loopbackHosts.has(host.toLowerCase())) return null;
  return 'must be https; http is only for 127.0.0.1 and localhost';
}

const loopback = /^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/i;

/** Whether the code is sent to a program on the person's own machine. */
export const isLoopbackRedirect = (uri: string): boolean => loopback.test(uri);

/** Whether the URIs are equal. The port of a loopback URI may differ, because programs on the person's machine use any free port (RFC 8252 §7.3). */
export function isSameRedirectUri(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const [a, b] = [loopback.exec(registered), loopback.exec(requested)];
  return a !== null && b !== null && a[1] === b[1] && a[2] === b[2];
}

/** The redirect URI with parameters added to its query (RFC 6749 §3.1.2). */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  const sign = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return `${uri}${sign}${new URLSearchParams(parameters)}`;
}
