// Converts the IP addresses of clients: to one uniform notation, and to the networks by which rate limits count clients.
import { isIP, isIPv4 } from 'node:net';

/**
 * An IP address without its zone, in one spelling: an IPv4 address that is mapped into IPv6 (RFC 4291, section 2.5.5.2) is an IPv4 address.
 * Null for any other text.
 */
export function plainAddress(address: string): string | null {
  if (isIPv4(address)) return address;
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*/, '');
  const family = isIP(plain);
  if (family === 4) return plain;
  if (family === 0) return null;
  // The spelling in URLs: lower case, without leading zeros, the longest run of zeros omitted.
  const spelled = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(spelled) ?? [];
  if (!high || !low) return spelled;
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
}

/** The address of an IPv4 client; the /64 of an IPv6 client, which owns all 2⁶⁴ addresses in it. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (plain === null || isIPv4(plain)) return plain ?? address;
  const [head, tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = tail ? [...head!, ...Array(8 - head!.length - tail.length).fill('0'), ...tail] : head!;
  return `${groups.slice(0, 4).join(':')}::/64`;
}
