// Tests whether IP addresses are public, by the IANA special-purpose registries (RFC 6890).
import { BlockList, isIP } from 'node:net';

const specialV4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 ' +
  '192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
// Ranges within 2000::/3 that are not public: Teredo, ORCHID and other protocols (2001::/23), documentation (2001:db8::/32 and 3fff::/20),
// 6to4 (2002::/16), and AS112 (2620:4f:8000::/48). IPv6 addresses outside of 2000::/3 need no list, because none of them count as public.
const specialV6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20';

function listOf(family: 'ipv4' | 'ipv6', subnets: string): (address: string) => boolean {
  const list = new BlockList();
  for (const subnet of subnets.split(' ')) {
    const [net, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(net, Number(prefix), family);
  }
  return (address) => list.check(address, family);
}

const isSpecialV4 = listOf('ipv4', specialV4);
const isSpecialV6 = listOf('ipv6', specialV6);
const isUnicastV6 = listOf('ipv6', '2000::/3');
const isLoopbackV4 = listOf('ipv4', '127.0.0.0/8');
const isLoopbackV6 = listOf('ipv6', '::1/128');

/** Whether an IP address is public. Mapped, translated (NAT64), private and zoned addresses are not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family === 4 ? !isSpecialV4(address) : family === 6 && isUnicastV6(address) && !isSpecialV6(address);
}

export const isLoopbackAddress = (address: string): boolean =>
  isIP(address) === 4 ? isLoopbackV4(address) : isLoopbackV6(address);
