// Client addresses as counted by throttles.
import { isIPv6 } from 'node:net';

/** The address of an IPv4 client; the /64 of an IPv6 client, which owns all 2⁶⁴ addresses in it. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!isIPv6(address)) return address;
  // The spelling in URLs: lower case, without leading zeros, the longest run of zeros omitted.
  const spelled = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  const [head, tail] = spelled.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = tail ? [...head!, ...Array(8 - head!.length - tail.length).fill('0'), ...tail] : head!;
  return `${groups.slice(0, 4).join(':')}::/64`;
}
