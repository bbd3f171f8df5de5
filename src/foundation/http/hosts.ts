// The host names that the service accepts (RFC 9110 §7.4; prevents DNS rebinding).
import type { IncomingMessage } from 'node:http';
import { addresses } from './addresses.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The name in a Host header, without its port; empty when absent. */
const nameOf = (host: string | undefined): string => (host ?? '').replace(/:\d*$/, '').toLowerCase();

/** Whether a Host header names this machine. */
export const isLoopbackHost = (host: string | undefined): boolean => loopback.test(nameOf(host));

/** Whether a Host header names one of the public addresses, on any port, or this machine. */
export function ownHosts(): (host: string | undefined) => boolean {
  const { baseHost, issuer, mcp, a2a } = addresses();
  const names = new Set([baseHost, issuer, mcp, a2a].map((address) => new URL(address).hostname));
  // The result is cached, because most requests have the same host as the previous one.
  let last: string | undefined;
  return (host) => {
    if (host !== undefined && host === last) return true;
    const isOwn = names.has(nameOf(host)) || isLoopbackHost(host);
    if (isOwn) last = host;
    return isOwn;
  };
}

/** Whether the client sent several Host headers. A proxy in front of this service may have used a different one of them (RFC 9112, 3.2). */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** A client may send an absolute URL as the target, as clients of a proxy do: the host of the URL then replaces the Host header (RFC 9112, 3.2.2). */
export function readTarget(req: IncomingMessage): void {
  const [, host, target] = /^https?:\/\/([^/?]*)(.*)$/i.exec(req.url!) ?? [];
  if (host === undefined) return;
  req.headers.host = host;
  req.url = target!.startsWith('/') ? target! : `/${target}`;
}
