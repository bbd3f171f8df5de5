// The setting TRUSTED_ISSUERS: providers whose identity assertions (ID-JAG) are believed.
import { z } from 'zod';
import { text } from '#limits.ts';
import { identifier, isIdentifier } from './addresses.ts';

/** A provider whose identity assertions (ID-JAG) are believed. */
export interface TrustedIssuer {
  issuer: string;
  displayName: string;
  /** Where its keys are; absent: at its `/.well-known/jwks.json`. */
  jwksUri?: string | undefined;
  /** The only clients it may speak for; absent: those whose id is an address of its own. */
  clientIds?: readonly string[] | undefined;
  maySendEvents?: boolean | undefined;
}

const issuerAddress = z.string(`must be ${identifier}`).refine(isIdentifier, `must be ${identifier}`);
const displayName = `must be a text of ${text.personName.min} to ${text.personName.max} characters`;
const clientIds = 'must be a list of client ids';
const issuerList = z.array(
  z.strictObject(
    {
      issuer: issuerAddress,
      displayName: z.string(displayName).min(text.personName.min, displayName).max(text.personName.max, displayName),
      jwksUri: issuerAddress.optional(),
      clientIds: z.array(z.string(clientIds).min(1, clientIds), clientIds).min(1, clientIds).optional(),
      maySendEvents: z.boolean('must be true or false').optional(),
    },
    'must be an object with issuer and displayName, and at most jwksUri, clientIds and maySendEvents',
  ),
  'must be a JSON array',
);

/** Reads TRUSTED_ISSUERS; what is wrong is added to `wrong`, and never quoted. */
export function trustedIssuers(value: string | null, wrong: string[]): readonly Readonly<TrustedIssuer>[] {
  if (value === null) return Object.freeze([]);
  let json: unknown;
  try {
    json = JSON.parse(value);
  } catch {
    // Not the parser's own words: they quote the text.
    json = undefined;
  }
  const { data = [], error } = issuerList.safeParse(json);
  for (const { path: steps, message } of error?.issues ?? []) {
    wrong.push(
      `TRUSTED_ISSUERS${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')}: ${message}`,
    );
  }
  if (new Set(data.map(({ issuer }) => issuer)).size < data.length) {
    wrong.push('TRUSTED_ISSUERS: names an issuer twice');
  }
  for (const { clientIds } of data) Object.freeze(clientIds);
  return Object.freeze(data.map((entry) => Object.freeze(entry)));
}
