// Secrets for named hosts: programs of a mission hold placeholders, and the headers of requests to these hosts get the values.
import { randomBytes } from 'node:crypto';
import { matches } from './policy.ts';

export interface HostSecret {
  name: string;
  value: string;
  /** Hosts in the syntax of network policies. */
  hosts: readonly string[];
}

export type HostSecrets = ReturnType<typeof openHostSecrets>;

/** Prefixes by which programs recognize tokens of their vendor. */
const publicPrefix = /^(?:gh[opsur]_|github_pat_|glpat-|npm_|pypi-|sk-ant-|sk-|xox[abp]-|hf_)/;

const placeholderFor = (value: string): string =>
  `${publicPrefix.exec(value)?.[0] ?? ''}placeholder${randomBytes(20).toString('hex')}`;

export function openHostSecrets(secrets: readonly HostSecret[]) {
  const placeholders = Object.fromEntries(secrets.map(({ name, value }) => [name, placeholderFor(value)]));
  /** Names of secrets by placeholder, including placeholders of earlier setups. */
  const names = new Map(Object.entries(placeholders).map(([name, placeholder]) => [placeholder, name]));
  let current = secrets;
  const secretsFor = (host: string, port: number): HostSecret[] =>
    current.filter(({ hosts }) => hosts.some((rule) => matches(rule, host, port)));

  return {
    /** Environment variables of setup and agents. */
    placeholders,
    covers: (host: string, port: number): boolean => secretsFor(host, port).length > 0,
    /** Replaces the values and hosts of the secrets for a later step. */
    renew(next: readonly HostSecret[]): void {
      current = next;
    },
    /** Placeholders that an earlier setup may have written into files of the environment. */
    accept(earlier: Record<string, string>): void {
      for (const [name, placeholder] of Object.entries(earlier)) if (placeholders[name]) names.set(placeholder, name);
    },
    /** Replaces placeholders of the host's secrets in raw headers (alternating names and values). */
    fill(host: string, port: number, headers: readonly string[]): string[] {
      const values = new Map(secretsFor(host, port).map(({ name, value }) => [name, value]));
      const held = [...names].flatMap(([placeholder, name]) =>
        values.has(name) ? [[placeholder, values.get(name)!] as const] : [],
      );
      const replace = (text: string): string =>
        held.reduce((filled, [placeholder, value]) => filled.replaceAll(placeholder, () => value), text);
      return headers.map((text, at) => (at % 2 === 1 ? replaceInBasic(replace(text), replace) : text));
    },
  };
}

/** Replaces placeholders within Basic credentials, which are Base64 (RFC 7617). */
function replaceInBasic(header: string, replace: (text: string) => string): string {
  const [, scheme, encoded] = /^(basic +)([a-z0-9+/=_-]+) *$/i.exec(header) ?? [];
  if (!encoded) return header;
  const login = Buffer.from(encoded, 'base64').toString('latin1');
  const filled = replace(login);
  return filled === login ? header : `${scheme}${Buffer.from(filled, 'latin1').toString('base64')}`;
}
