// Parses the values of settings. The error for an invalid value says which format is required.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { endpointOf, identifier, isIdentifier, originOf } from '../http/addresses.ts';
import { serversOf } from '../postgres/primary.ts';
import { readBucket } from '../storage/s3.ts';

/** A setting that `parse` converts. If `parse` returns undefined, the error quotes `mustBe`. */
export const parsedSetting = <T>(mustBe: string, parse: (value: string) => T | undefined) =>
  z.string().transform((value, context) => {
    const result = parse(value);
    if (result !== undefined) return result;
    context.addIssue(`must be ${mustBe}`);
    return z.NEVER;
  });

export const matching = (mustBe: string, matches: (value: string) => boolean) =>
  parsedSetting(mustBe, (value) => (matches(value) ? value : undefined));

export const integer = (min: number, max: number) =>
  parsedSetting(`an integer ${min} to ${max}`, (value) => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });

export const oneOf = <const V extends readonly string[]>(values: V) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

export const hasProtocol = (value: string, ...protocols: string[]): boolean =>
  URL.canParse(value) && protocols.includes(new URL(value).protocol);

const isDatabaseUrl = (value: string): boolean =>
  serversOf(value).every((at) => hasProtocol(at, 'postgres:', 'postgresql:') && new URL(at).pathname.length > 1) &&
  // Other values of `target_session_attrs` are rejected: only the server that accepts writes can be followed.
  /^(?:read-write|primary)?$/.test(/[?&]target_session_attrs=([^&]*)/.exec(value)?.[1] ?? '');
export const isSender = (value: string): boolean =>
  /^(?:[^\s@<>,;]+@[^\s@<>,;]+|[^<>\r\n]*<[^\s@<>,;]+@[^\s@<>,;]+>)$/.test(value);
const isEmail = (value: string): boolean => /^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,255}$/.test(value);
/** Email addresses of accounts, converted to lower case, because accounts store them in lower case. */
export const emailAddresses = parsedSetting('up to 100 email addresses, separated by commas', (value) => {
  const addresses = value.toLowerCase().split(/\s*,\s*/);
  return addresses.length <= 100 && addresses.every(isEmail) ? Object.freeze(addresses) : undefined;
});
export const isStorage = (value: string): boolean => {
  const bucket = readBucket(value);
  if (bucket === null) return hasProtocol(value, 'file:');
  return bucket.endpoint === undefined || isIdentifier(bucket.endpoint);
};

export const origin = parsedSetting('an http or https address without path, query or user', originOf).optional();
export const endpoint = parsedSetting('an http or https address without query or user', endpointOf).optional();
export const databaseAddress = matching(
  'postgres://user:password@host:port/database, with host:port,host:port for several servers, special characters percent-encoded',
  isDatabaseUrl,
).optional();
/** Only one server is allowed, because the replayed position of one standby does not apply to other standbys. */
export const replica = matching(
  'postgres://user:password@host:port/database of one server, special characters percent-encoded',
  (value) => serversOf(value).length === 1 && isDatabaseUrl(value),
).optional();
export const replicaNeedsDatabase =
  'DATABASE_REPLICA_URL: needs DATABASE_URL, because the embedded PostgreSQL has no standby';
export const vendorAddress = parsedSetting(identifier, (value) =>
  isIdentifier(value) ? endpointOf(value) : undefined,
);
/** Number of processes; `auto` means one per core. */
export const workers = parsedSetting('auto or an integer 1 to 128', (value) => {
  const count = value === 'auto' ? availableParallelism() : Number(/^\d{1,3}$/.exec(value)?.[0]);
  return count >= 1 && count <= 128 ? count : undefined;
});

/** The value of JSON text. Invalid JSON becomes undefined, because the error of the parser would quote the text. */
export const jsonText = z.string().transform((text): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
});
