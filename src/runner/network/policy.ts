// Hosts that a mission may reach: the network policy of its environment.
import { isIP } from 'node:net';

export interface NetworkPolicy {
  mode: 'none' | 'packages' | 'custom' | 'open';
  /** Hosts of the modes `packages` and `custom`: `host` or `*.host`, with an optional `:port` (else 80 and 443). */
  hosts: readonly string[];
}

/**
 * The host as URLs spell it: lower case, punycode, IPv4 in four numbers, no dot at the end. Null for an invalid host, and for a name with
 * an empty label, which resolvers read in different ways.
 */
export function canonicalHost(text: string): string | null {
  if (text.length > 255 || /[\s/?#@\\%]/.test(text) || !URL.canParse(`http://${text}/`)) return null;
  const url = new URL(`http://${text}/`);
  // A text with a port is not a host.
  if (url.host !== url.hostname || /:\d*$/.test(text.replace(/^\[.*\]/, ''))) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return host.split('.').includes('') ? null : host;
}

/** The host as in URLs, where IPv6 addresses are in brackets. @param host A host in canonical form. */
export const inUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

const defaultPorts = [80, 443];

/** Whether the rule names the host and port. @param host A host in canonical form. */
export function matches(rule: string, host: string, port: number): boolean {
  const [, wildcard, name, rulePort] = /^(\*\.)?([^:]+)(?::(\d+))?$/.exec(rule) ?? [];
  const ruleHost = name && canonicalHost(name);
  if (!ruleHost || !(rulePort ? Number(rulePort) === port : defaultPorts.includes(port))) return false;
  return wildcard ? host.endsWith(`.${ruleHost}`) : host === ruleHost;
}

/** Whether the policy allows the host and port. @param host A host in canonical form. */
export const allows = ({ mode, hosts }: NetworkPolicy, host: string, port: number): boolean =>
  mode === 'open' || (mode !== 'none' && hosts.some((rule) => matches(rule, host, port)));
