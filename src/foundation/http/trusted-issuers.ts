// The setting TRUSTED_ISSUERS: the providers whose identity assertions (ID-JAG) are accepted.
import { z } from 'zod';
import { text } from '#limits.ts';
import { jsonText } from '../settings/setting-values.ts';
import { identifier, isIdentifier } from './addresses.ts';

export interface TrustedIssuer {
  /** The issuer identifier, compared exactly. */
  issuer: string;
  displayName: string;
  /** The URL of the provider's keys; absent means its `/.well-known/jwks.json`. */
  jwksUri?: string | undefined;
  /** The clients that the provider may issue assertions for; absent means those whose id is a URL of its own origin. */
  clientIds?: readonly string[] | undefined;
  /** Whether the provider may send security events; true when absent. */
  maySendEvents?: boolean | undefined;
}

const issuerAddress = z.string(`must be ${identifier}`).refine(isIdentifier, `must be ${identifier}`);
const displayName = `must be a text of ${text.personName.min} to ${text.personName.max} characters`;
const clientIds = 'must be a list of client ids';
const issuerList = z
  .array(
    z
      .strictObject(
        {
          issuer: issuerAddress,
          displayName: z
            .string(displayName)
            .min(text.personName.min, displayName)
            .max(text.personName.max, displayName),
          jwksUri: issuerAddress.optional(),
          clientIds: z.array(z.string(clientIds).min(1, clientIds), clientIds).min(1, clientIds).readonly().optional(),
          maySendEvents: z.boolean('must be true or false').optional(),
        },
        'must be an object with issuer and displayName, and at most jwksUri, clientIds and maySendEvents',
      )
      .readonly(),
    'must be a JSON array',
  )
  .refine((list) => new Set(list.map(({ issuer }) => issuer)).size === list.length, 'names an issuer twice')
  .readonly();

/** Reads TRUSTED_ISSUERS, a JSON array. */
export const trustedIssuers = jsonText.pipe(issuerList);
