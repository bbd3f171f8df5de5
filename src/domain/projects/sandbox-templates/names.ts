// Validation of names of environment variables and hosts.
import { isIP } from 'node:net';

/** Length of the name of a variable or secret, in characters. */
export const variableName = { min: 1, max: 100 } as const;

const reservedNames = new Set(
  (
    'PATH HOME USER LOGNAME SHELL PWD OLDPWD IFS ENV BASH_ENV TERM LANG TMPDIR ARTIFACTS GATEWAY_KEY NODE_OPTIONS NODE_USE_ENV_PROXY ' +
    'NODE_EXTRA_CA_CERTS JAVA_TOOL_OPTIONS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO'
  ).split(' '),
);
const reservedPrefixes = /^(?:LD|DYLD|XDG|GIT|AEP|CLAUDE|CODEX|OPENCODE|ANTHROPIC|OPENAI)_/;

/** Reason why the name is invalid for a variable; undefined if it is valid. */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return 'must be letters, digits and underscores, and must not begin with a digit';
  }
  const upper = name.toUpperCase();
  if (!reservedNames.has(upper) && !upper.endsWith('_PROXY') && !reservedPrefixes.test(upper)) return undefined;
  return `${name} is set by the platform`;
}

const hostForm = 'must be a host such as api.example.com, *.example.com or example.com:8443, in lower case';
/** Matches the last label of a host that URL parsers read as an IPv4 address (WHATWG URL, "ends in a number"). */
const number = /^(?:\d+|0x[\da-f]*)$/;
const label = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/**
 * Reason why the host is invalid in a policy; undefined if it is valid. Names that lead to private addresses are refused when they are
 * resolved.
 */
export function hostProblem(host: string): string | undefined {
  const [, wildcard, name, port] = /^(\*\.)?([^:/@\s]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (name === undefined) return hostForm;
  const labels = name.split('.');
  if (isIP(name) || number.test(labels.findLast((one) => one !== '') ?? ''))
    return 'must be a host name, not an IP address';
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return 'must have a port of 1 to 65535';
  if (name.length > 253 || !labels.every((one) => label.test(one))) return hostForm;
  if (labels.length < 2)
    return wildcard ? 'must name at least two labels after *.' : 'must be a public name with a dot';
  return undefined;
}

const defaultPorts = [80, 443];

/** The policy entry for a host and port; ports 80 and 443 are omitted. */
export const hostRule = (host: string, port: number): string =>
  defaultPorts.includes(port) ? host : `${host}:${port}`;

/** Whether an entry of a policy names the host and port. */
export function namesHost(rule: string, host: string, port: number): boolean {
  const [name, rulePort] = rule.split(':') as [string, string?];
  if (!(rulePort === undefined ? defaultPorts.includes(port) : Number(rulePort) === port)) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
}
