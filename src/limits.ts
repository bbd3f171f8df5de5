// Every number of the specification's Limits table (and of design decisions that clients can feel), once, with its unit.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Characters, least and most. */
export const text = {
  organizationName: { min: 1, max: 120 },
  organizationSlug: { min: 1, max: 64 },
  projectName: { min: 1, max: 120 },
  tokenName: { min: 1, max: 100 },
  personName: { min: 1, max: 120 },
  email: { min: 3, max: 320 },
  agentName: { max: 200 },
  loginHint: { min: 1, max: 320 },
  assertion: { min: 1, max: 16_384 },
  claimToken: { min: 1, max: 200 },
  claimEmail: { min: 1, max: 320 },
  /** `sub` and `jti` of what a provider signs. */
  providerId: { min: 1, max: 255 },
  clientName: { max: 200 },
  clientId: { min: 1, max: 2_000 },
  redirectUri: { min: 1, max: 2_000 },
  repoFullName: { max: 200 },
  trackerTeamKey: { min: 1, max: 100 },
  pathId: { min: 1, max: 200 },
  filter: { max: 200 },
  cursor: { max: 500 },
  idempotencyKey: { min: 1, max: 255 },
  integrationName: { min: 1, max: 120 },
  externalOrgId: { min: 1, max: 200 },
} as const;

/** List pages: least, most, and what a caller gets without asking. */
export const pages = {
  projects: { min: 1, max: 100, default: 20 },
  runs: { min: 1, max: 200, default: 50 },
  sandboxes: { min: 1, max: 500, default: 200 },
  environments: { min: 1, max: 500, default: 200 },
  artifacts: { min: 1, max: 2_000, default: 500 },
  other: { min: 1, max: 200, default: 50 },
} as const;

export const tokens = {
  scopesPerToken: 25,
  lifetimeDays: { min: 1, max: 365, default: 90 },
} as const;

/** Redirect addresses of one OAuth client. */
export const redirectUrisPerClient = { min: 1, max: 20 } as const;

/** What is fetched of a client's metadata document: bytes, milliseconds, and how long it is kept whatever it says itself. */
export const clientDocument = {
  bytes: 10 * 1024,
  timeout: seconds(5),
  kept: { min: minutes(1), max: hours(24) },
} as const;

/**
 * The keys of a trusted provider: bytes, milliseconds, how long they are kept whatever the provider says, and how long after an
 * unknown key or a failure nothing is fetched again.
 */
export const providerKeys = {
  bytes: 64 * 1024,
  timeout: seconds(5),
  kept: { min: minutes(10), max: hours(24) },
  cooldown: seconds(30),
} as const;

/** How far the clocks of a provider and ours may be apart, in milliseconds. */
export const clockSkew = seconds(60);

/** Lifetimes in milliseconds. */
export const lifetimes = {
  agentAccessToken: hours(1),
  oauthAccessToken: hours(1),
  claimWindow: hours(24),
  userCode: minutes(10),
  /** After the person is done the agent has this long to collect, even when the claim window is over. */
  claimCollection: minutes(10),
  authorizationCode: minutes(1),
  idJagLogin: hours(1),
  /** From `iat` to `exp` of a provider's assertion, at most. */
  idJag: hours(1),
  /** Our own assertion, given for a provider's. */
  linkedAssertion: hours(1),
  /** A security event that is older is not believed. */
  securityEvent: days(7),
  signInCode: minutes(10),
  signInLink: minutes(10),
  consoleSession: days(14),
  invite: days(7),
  idempotencyKey: hours(24),
  lastUsedStep: minutes(1),
  /** How long a process goes by the signing keys that it has read: a rotation is seen by all within it. */
  signingKeysRead: minutes(1),
} as const;

export const tries = {
  wrongUserCodes: 5,
  wrongSignInCodes: 5,
} as const;

/** Seconds between two polls of a claim, what `slow_down` adds (RFC 8628 §3.5), and milliseconds that a poll may come early. */
export const polling = { interval: seconds(5) / 1_000, slowDown: 5, tolerance: 500 } as const;

/** Request sizes in bytes. */
export const bytes = {
  jsonBody: 256 * 1024,
  graphqlBody: 256 * 1024,
  oauthBody: 64 * 1024,
  consoleForm: 64 * 1024,
} as const;

/** What one GraphQL request may ask. */
export const graphql = {
  operationsPerBatch: 20,
  depth: 12,
  aliases: 30,
  directives: 50,
  tokens: 2_000,
  cost: 20_000,
  /** Parsed documents kept in memory, and the longest text (in characters) that is worth it. */
  cachedDocuments: 200,
  cachedDocumentLength: 4_000,
} as const;

/** What one MCP request may ask: the messages of a batch (only protocol version 2025-03-26 knows them). */
export const mcp = { messagesPerBatch: 20 } as const;

export const rates = {
  failedAuthenticationsPerMinute: 300,
  /** Per mail address. */
  signInCodesPerHour: 10,
  /** Per client address, whatever mail addresses it names. */
  signInCodesPerHourAndClient: 120,
  /** Per source address, unless the settings say otherwise. */
  registrationsPerHour: 60,
  /** Per registration: each new code is five more guesses. */
  claimAttemptsPerHour: 10,
  /** Per source address: security events, counted before any signature is looked at. */
  securityEventsPerMinute: 300,
  /** Per client address: metadata documents of OAuth clients that had to be fetched. */
  clientDocumentsPerMinute: 120,
  /** Per credential, unless the settings say otherwise. */
  requestsPerMinute: 1_200,
} as const;

/** How long a readiness probe waits for the database, in milliseconds. */
export const probes = { databaseAnswer: seconds(2) } as const;
