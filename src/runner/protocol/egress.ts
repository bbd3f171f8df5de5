// Connects to the URL that an organization has chosen for its model or source host. The URL must be public and use https on port 443. Host
// names are resolved here, and the connection uses the address that was checked, which prevents DNS rebinding. The platform has the same
// rules.
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { isLoopback, isPublic } from '../network/addresses.ts';

export interface Egress {
  /** A separate HTTP agent: a pooled connection to the same name may have an unchecked address. */
  agent: HttpAgent | HttpsAgent;
  /** Reason why no request may be sent; null means allowed, subject to the checks of the HTTP agent. */
  refusal: string | null;
}

/**
 * Opens connections to the host of one URL. @param base The URL, which the organization has chosen. @param allowLoopback Also allows
 * loopback addresses, on any port and also with http.
 */
export function openEgress(base: string, allowLoopback: boolean, resolve = systemLookup): Egress {
  const { isHttps, refusal, mayReach } = rulesOf(base, allowLoopback);
  const lookup = ((name, options, done) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 0);
      const refused = found.find(({ address }) => !mayReach(address));
      if (refused || found.length === 0) return done(new Error(`${name} is not at a public address`), '', 0);
      return options.all ? done(null, found) : done(null, found[0]!.address, found[0]!.family);
    });
  }) as LookupFunction;
  return { agent: new (isHttps ? HttpsAgent : HttpAgent)({ keepAlive: true, lookup }), refusal };
}

/** Addresses of the host that the runner's programs may connect to. @throws when one of them is refused */
export async function checkedAddresses(
  base: string,
  allowLoopback: boolean,
  resolve = systemLookup,
): Promise<string[]> {
  const { host, refusal, mayReach } = rulesOf(base, allowLoopback);
  if (refusal) throw new Error(refusal);
  const found = isIP(host) > 0 ? [{ address: host }] : await promisify(resolve)(host, { all: true });
  if (found.length === 0 || !found.every(({ address }) => mayReach(address)))
    throw new Error(`${host} is not at a public address`);
  return found.map(({ address }) => address);
}

function rulesOf(base: string, allowLoopback: boolean) {
  const { protocol, hostname, port, username, password } = new URL(base);
  const host = hostname.replace(/^\[|\]$/g, '');
  const mayReach = (address: string): boolean =>
    allowLoopback && isLoopback(address) ? true : isPublic(address) && protocol === 'https:' && port === '';
  // An IP address needs no name resolution.
  const isRefused = Boolean(username || password) || !/^https?:$/.test(protocol) || (isIP(host) > 0 && !mayReach(host));
  return {
    host,
    isHttps: protocol === 'https:',
    mayReach,
    refusal: isRefused ? `${host} is not a public address` : null,
  };
}
