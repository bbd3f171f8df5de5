// Tests whether an address is public, because a runner connects only to public addresses on behalf of agents. The rules
// are those of the platform (src/foundation/http/ip-addresses.ts).
import { BlockList, isIP } from 'node:net';

const specialV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 ' +
  '192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
// Special ranges within 2000::/3, the only space in use.
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

export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special4.check(address, 'ipv4');
  return isIP(address) === 6 && unicast6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}
export const isLoopback = (address: string): boolean =>
  isIP(address) === 4 ? loopback4.check(address, 'ipv4') : isIP(address) === 6 && loopback6.check(address, 'ipv6');

/** Whether the platform is on this machine; its organizations may then name loopback addresses. */
export const isOnLoopback = (url: string): boolean => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopback(host);
};

/** Top-level domains of private networks (RFC 6761, RFC 6762 §3 and appendix G, RFC 8375), and of the metadata services of clouds. */
const privateDomains = ['localhost', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'home.arpa', 'lan'];

/** Whether the name can only belong to a machine or private network, regardless of its address. @param name In canonical form. */
export const isPrivateName = (name: string): boolean =>
  isIP(name) === 0 && (!name.includes('.') || privateDomains.some((domain) => name.endsWith(`.${domain}`)));
