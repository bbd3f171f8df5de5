// The limits that clients encounter: those of docs/contract.md#limits and those shared by several folders of the domain. Other limits are
// in the folders that use them; internal tuning is next to the code that it tunes. Units are part of the name.
import { days, hours, minutes, seconds } from '#foundation/clock.ts';

/** Bounds of texts, in characters (docs/contract.md#limits; docs/decisions/0031-runtimes-report-over-graphql.md). */
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
  clientName: { max: 200 },
  clientId: { min: 1, max: 2_000 },
  redirectUri: { min: 1, max: 2_000 },
  repoFullName: { max: 200 },
  trackerTeamKey: { min: 1, max: 100 },
  creditMessage: { min: 1, max: 2_000 },
  withdrawalReason: { max: 2_000 },
  pathId: { min: 1, max: 200 },
  filter: { max: 200 },
  cursor: { max: 500 },
  idempotencyKey: { min: 1, max: 255 },
  integrationName: { min: 1, max: 120 },
  externalOrgId: { min: 1, max: 200 },
  recurringName: { min: 1, max: 120 },
  prompt: { min: 1, max: 20_000 },
  label: { min: 1, max: 50 },
  timeZone: { min: 1, max: 64 },
  missionAgentName: { min: 1, max: 120 },
  modelId: { min: 1, max: 100 },
  sessionId: { min: 1, max: 200 },
  orchestratorName: { min: 1, max: 120 },
  orchestratorBlurb: { max: 500 },
  userPrompt: { max: 20_000 },
  runtimeName: { min: 1, max: 120 },
  /** Ids that a runtime chooses: of sandboxes, environments, costs. */
  runtimeKey: { min: 1, max: 100 },
  harnessVersion: { min: 1, max: 100 },
  activity: { max: 500 },
  runError: { max: 2_000 },
  outcome: { min: 1, max: 100 },
  logPiece: { max: 65_536 },
  spanId: { min: 1, max: 200 },
  fragmentBody: { max: 16_384 },
  fragmentWord: { min: 1, max: 200 },
  caption: { max: 500 },
  contentType: { min: 3, max: 200 },
  filePath: { min: 1, max: 1_000 },
  gitRef: { min: 1, max: 250 },
  mcpServerName: { min: 1, max: 64 },
  mcpToolName: { min: 1, max: 128 },
  oauthCode: { min: 1, max: 4_000 },
  oauthState: { min: 1, max: 500 },
} as const;

/** Rows on a page: bounds and default (docs/contract.md#limits). */
export const pages = {
  projects: { min: 1, max: 100, default: 20 },
  runs: { min: 1, max: 200, default: 50 },
  sandboxes: { min: 1, max: 500, default: 200 },
  environments: { min: 1, max: 500, default: 200 },
  artifacts: { min: 1, max: 2_000, default: 500 },
  fragments: { min: 1, max: 200, default: 200 },
  other: { min: 1, max: 200, default: 50 },
} as const;

/** Personal access tokens (docs/contract.md#limits). */
export const tokens = {
  scopesPerToken: 25,
  /** Maximum number of active tokens; set by TOKENS_PER_PERSON. */
  perPerson: 100,
  lifetimeDays: { min: 1, max: 365, default: 90 },
} as const;

/** Amounts in credits. One credit pays for 1 USD of mission cost. A mission reserves `reserved` before it starts. A balance below `low` is low. */
export const credits = {
  trial: 100,
  trialLastsMs: days(30),
  reserved: 1,
  low: 10,
  perGrant: { min: 1, max: 1_000_000 },
} as const;

/** Bounds per scheduled task or automation (docs/contract.md#scheduled-tasks-and-automations). */
export const recurring = {
  triggers: { min: 1, max: 10 },
  labels: 20,
  upcoming: { min: 1, max: 5, default: 5 },
} as const;

/**
 * A runtime's lease on a run: its length and the interval of heartbeats, the number of runtimes that may claim one run, one after the
 * other, and the delay before a handed-back run can be claimed (docs/decisions/0031-runtimes-report-over-graphql.md).
 */
export const lease = { lastsMs: seconds(60), heartbeatMs: seconds(10), claims: 3, restMs: seconds(10) } as const;

/** A run that no runtime claims fails after this time (docs/decisions/0034-waiting-runs.md). */
export const maxWaitMs = hours(24);

/** Entries in one report of a runtime (docs/decisions/0031-runtimes-report-over-graphql.md). */
export const report = {
  runs: 50,
  sandboxes: 50,
  environments: 100,
  metricsPerSandbox: 120,
  fragments: 50,
  planItems: 50,
  /** Maximum number of pieces in one log of a sandbox. */
  logPieces: 50_000,
  fragmentsPerSandbox: 100_000,
  usd: { min: 0, max: 10_000 },
  harnesses: { min: 1, max: 10 },
} as const;

/** Times without heartbeats: a running sandbox is stale after `stale`, and fails with its run after `failed` (docs/contract.md#sandboxes). */
export const silenceMs = { stale: minutes(2), failed: minutes(10) } as const;

/** Time in which a runtime must take down an expired environment. After this time, the environment is marked as failed. */
export const environmentGraceMs = minutes(10);

/** Maximum numbers of related records inside one record, and of points in one chart. */
export const previewSizes = { perParent: 20, sessions: 100, fragments: 200, metrics: 240, sparkline: 60 } as const;

/** Bounds for the number of occurrences that the query `upcomingOccurrences` returns. */
export const upcomingShown = { min: 1, max: 50, default: 10 } as const;

/** Retention of sandbox samples. */
export const metricRetentionMs = days(28);

export const redirectUrisPerClient = { min: 1, max: 20 } as const;

/** Allowed difference between the clocks of an identity provider and of the service. */
export const clockSkewMs = seconds(60);

/** Lifetimes (docs/contract.md#limits). */
export const lifetimesMs = {
  agentAccessToken: hours(1),
  oauthAccessToken: hours(1),
  claimWindow: hours(24),
  userCode: minutes(10),
  /** Time in which the agent can fetch its tokens after the person's decision, even when the claim window has passed. */
  claimCollection: minutes(10),
  authorizationCode: minutes(1),
  idJagLogin: hours(1),
  /** Maximum time from `iat` to `exp` of an identity assertion (ID-JAG). */
  idJag: hours(1),
  /** Lifetime of the assertion that the service issues to an agent in exchange for its provider's assertion. */
  linkedAssertion: hours(1),
  /** Maximum age of an accepted security event. */
  securityEvent: days(7),
  signInCode: minutes(10),
  signInLink: minutes(10),
  /** How long a browser remembers that an email address has signed in. */
  knownBrowser: days(180),
  passkeyChallenge: minutes(5),
  upstreamSignIn: minutes(10),
  mcpSignIn: minutes(10),
  /** Minimum lifetime of a download URL; repeated requests within 15 minutes return the same URL. */
  downloadAddress: hours(1),
  uploadAddress: minutes(15),
  consoleSession: days(14),
  invite: days(7),
  artifact: days(90),
  idempotencyKey: hours(24),
} as const;

/** Number of wrong attempts that locks a code (docs/contract.md#limits). */
export const tries = { wrongUserCodes: 5, wrongSignInCodes: 5 } as const;

/** Interval between two polls of a claim, and how much longer `slow_down` makes the interval (RFC 8628, section 3.5). */
export const polling = { intervalSeconds: 5, slowDownSeconds: 5 } as const;

/** Maximum sizes of bodies, responses and contents, in bytes. */
export const bytes = {
  jsonBody: 256 * 1024,
  graphqlBody: 256 * 1024,
  graphqlAnswer: 8 * 1024 * 1024,
  oauthBody: 64 * 1024,
  consoleForm: 64 * 1024,
  /** Maximum size of the part of a log in one response. */
  logContent: 1024 * 1024,
  repositoryFile: 1024 * 1024,
  artifact: 512 * 1024 * 1024,
  /** Maximum size of all records of one MCP response as JSON, and of one resource in such a response. */
  mcpAnswer: 4 * 1024 * 1024,
  mcpContent: 1024 * 1024,
} as const;

/** Bounds of one GraphQL request. */
export const graphql = {
  operationsPerBatch: 20,
  depth: 12,
  aliases: 30,
  directives: 50,
  tokens: 2_000,
  /** Maximum cost of all operations of a batch together. */
  cost: 20_000,
  /** Cost that the rate limit counts as one request. An operation with a lower cost counts as one request, too. */
  costPerRatePoint: 1_000,
} as const;

/** Maximum number of open subscriptions, and the duration of one before its reader must reconnect. */
export const subscriptions = {
  perCredential: 10,
  perPerson: 50,
  perOrganization: 200,
  perProcess: 1_000,
  lifetimeMs: hours(1),
} as const;

/** Messages in one MCP batch, which only protocol version 2025-03-26 supports. */
export const mcp = { messagesPerBatch: 20 } as const;

/** Invites in 24 hours: the default per organization (INVITES_PER_DAY), and the maximum to one email address from all senders. */
export const invitesPerDay = { organization: 100, recipient: 5 } as const;

/** Rate limits. For requests, and for registrations from one source address, settings can replace these defaults. */
export const rates = {
  /** Failed authentications from one client network. */
  failedAuthenticationsPerMinute: 300,
  /** Sign-in mails that one network requests, for all email addresses together. */
  signInMailsPerHourAndNetwork: 120,
  /** Sign-in mails to one email address that are requested from one network. One network alone cannot use up the limit of the address. */
  signInMailsPerDayToAddressFromNetwork: 20,
  /** Sign-in mails to one email address, requested in browsers in which nobody has yet signed in with it. Each mail allows five guesses. */
  signInMailsPerDayToAddress: 100,
  signInMailsPerDayOfKnownBrowser: 20,
  signInTriesPerHourAndNetwork: 120,
  upstreamSignInsPerHourAndNetwork: 120,
  registrationsPerHour: 60,
  /** Number of attempts to claim one registration. Each attempt creates a new code, and each code allows five guesses. */
  claimAttemptsPerHour: 10,
  /** Security events from one source address, counted before any signature is verified. */
  securityEventsPerMinute: 300,
  /** Events of payment providers from one source address, counted before any signature is verified. */
  paymentEventsPerMinute: 600,
  /** Metadata documents of OAuth clients that the service fetches because of requests from one client address. */
  clientDocumentsPerMinute: 120,
  /** Requests with one credential of a person or program. The next limit is for all people and programs of an organization together. */
  requestsPerMinute: 1_200,
  requestsPerMinuteOrganization: 12_000,
  /** Requests of one runtime, which sends about 5 a second for each mission. All runtimes of an organization together have the same limit. */
  requestsPerMinuteRuntime: 24_000,
} as const;
