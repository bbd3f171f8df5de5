// Connections to addresses that an organization has chosen, of its model or its source host: to public ones only, by https on port 443. Host names are
// resolved here and the connection goes to a checked address, which defeats DNS rebinding. The rules are those of the platform.
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';

const specialV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 ' +
  '192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
// Within 2000::/3, the only space in use.
const specialV6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20';

function listOf(family: 'ipv4' | 'ipv6', subnets: string): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.split(' ')) {
    const [net, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
}
const [special4, special6] = [listOf('ipv4', specialV4), listOf('ipv6', specialV6)];
const [unicast6, loopback4, loopback6] = [
  listOf('ipv6', '2000::/3'),
  listOf('ipv4', '127.0.0.0/8'),
  listOf('ipv6', '::1/128'),
];

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special4.check(address, 'ipv4');
  return isIP(address) === 6 && unicast6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
const isLoopback = (address: string): boolean =>
  isIP(address) === 4 ? loopback4.check(address, 'ipv4') : isIP(address) === 6 && loopback6.check(address, 'ipv6');

/** Whether a platform on this machine alone is served, whose organizations may name loopback addresses. */
export const isOnLoopback = (url: string): boolean => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopback(host);
};

export interface Egress {
  /** Its connections are shared with nobody else: an address that was not checked may have the same name. */
  agent: HttpAgent | HttpsAgent;
  /** Why no request may be sent; null: the agent checks the rest. */
  refusal: string | null;
}

/** @param allowLoopback Also loopback addresses, over http too, at any port. */
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

/** Addresses of the host that programs of ours may connect to. @throws when one of them is refused */
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
  // No name is looked up for an address.
  const isRefused = Boolean(username || password) || !/^https?:$/.test(protocol) || (isIP(host) > 0 && !mayReach(host));
  return {
    host,
    isHttps: protocol === 'https:',
    mayReach,
    refusal: isRefused ? `${host} is not a public address` : null,
  };
}
