// The bounds of identity providers and of the domains that they sign in.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Maximum of domains and providers per organization. */
export const providerCounts = { domains: 20, providers: 10 } as const;

/** Bounds of texts, in characters. */
export const providerText = {
  domain: { min: 3, max: 253 },
  name: { min: 1, max: 120 },
  issuer: { min: 1, max: 2_000 },
  clientId: { min: 1, max: 500 },
  clientSecret: { min: 1, max: 2_000 },
  subject: { min: 1, max: 255 },
  /** A longer return path is replaced by the path of the console. */
  returnTo: { max: 2_000 },
} as const;

/** The name below a domain at which its TXT record is read. */
export const challengeName = '_agent-platform-challenge';

/** Bounds of SAML: its metadata, its responses with their encoding, its certificates and their keys. */
export const samlBounds = {
  metadataChars: 200_000,
  metadataBytes: 512 * 1024,
  metadataUrl: { min: 1, max: 2_000 },
  metadataMs: hours(24),
  /** How long the metadata cannot be used before admins get a notice. */
  metadataFailsMs: days(2),
  responseChars: 200_000,
  bodyBytes: 400_000,
  certificates: 5,
  rsaBits: 2_048,
  id: { max: 255 },
} as const;

/** Interval of the checks of a verified domain, and the time without its record after which it no longer counts as verified. */
export const domainCheckMs = { interval: hours(24), grace: days(7), timeout: seconds(5) } as const;
export const domainChecksPerHour = 60;

/** How long a sign-in may take at the provider, and how long it counts afterwards. */
export const providerSignInMs = { open: minutes(10), session: hours(24) } as const;
export const providerSignInsPerHourAndNetwork = 1_000;

/** Time limit and maximum bytes of an answer of a provider; for how many providers, and for how long, metadata and keys are cached. */
export const providerAnswer = { timeoutMs: seconds(5), bytes: 64 * 1024, cached: 200, metadataMs: hours(1) } as const;
