// Limits of identity providers and of the domains that they sign in.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Maximum number of domains and providers per organization. */
export const providerCounts = { domains: 20, providers: 10 } as const;

/** Limits of texts, in characters. */
export const providerText = {
  domain: { min: 3, max: 253 },
  name: { min: 1, max: 120 },
  issuer: { min: 1, max: 2_000 },
  clientId: { min: 1, max: 500 },
  clientSecret: { min: 1, max: 2_000 },
  subject: { min: 1, max: 255 },
  /** A longer return path is replaced by the console's home page. */
  returnTo: { max: 2_000 },
} as const;

/** The name below a domain at which its TXT record is read. */
export const challengeName = '_agent-platform-challenge';

/** Limits of SAML metadata, encoded responses, certificates and their keys. */
export const samlBounds = {
  metadataChars: 200_000,
  metadataBytes: 512 * 1024,
  metadataUrl: { min: 1, max: 2_000 },
  metadataMs: hours(24),
  /** Time for which the metadata must be unusable before admins get a notice. */
  metadataFailsMs: days(2),
  responseChars: 200_000,
  bodyBytes: 400_000,
  certificates: 5,
  rsaBits: 2_048,
  id: { max: 255 },
} as const;

/**
 * The DNS record of a verified domain is looked up once per `interval`, and each lookup may take at most `timeout`. A domain whose DNS record
 * has been missing for `grace` no longer counts as verified.
 */
export const domainCheckMs = { interval: hours(24), grace: days(7), timeout: seconds(5) } as const;
export const domainChecksPerHour = 60;

/** How long a person may take to sign in at the provider (`open`), and for how long the session then counts as signed in through it (`session`). */
export const providerSignInMs = { open: minutes(10), session: hours(24) } as const;
export const providerSignInsPerHourAndNetwork = 1_000;

/** Time limit and maximum size of a provider's response; number of providers whose metadata and keys are cached, and for how long. */
export const providerAnswer = { timeoutMs: seconds(5), bytes: 64 * 1024, cached: 200, metadataMs: hours(1) } as const;
