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
  /** Where a mailed sign-in link leads: a path with its query. */
  returnTo: { max: 8_000 },
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
  /** What a runtime calls its own: sandboxes, environments, costs. */
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
  mcpSecret: { min: 1, max: 8_192 },
  hostname: { min: 1, max: 253 },
  oauthCode: { min: 1, max: 4_000 },
  oauthState: { min: 1, max: 500 },
  consolePath: { min: 1, max: 2_000 },
} as const;

/** List pages: least, most, and what a caller gets without asking. */
export const pages = {
  projects: { min: 1, max: 100, default: 20 },
  runs: { min: 1, max: 200, default: 50 },
  sandboxes: { min: 1, max: 500, default: 200 },
  environments: { min: 1, max: 500, default: 200 },
  artifacts: { min: 1, max: 2_000, default: 500 },
  fragments: { min: 1, max: 200, default: 200 },
  other: { min: 1, max: 200, default: 50 },
} as const;

export const tokens = {
  scopesPerToken: 25,
  /** Live ones, unless the settings say otherwise. */
  perPerson: 100,
  lifetimeDays: { min: 1, max: 365, default: 90 },
} as const;

export const passkeysPerPerson = 20;

export const skillReposPerAgent = 20;

/** What an organization's missions may cost in a day of UTC, in US dollars; the smallest cap that is not zero, which is its unit. */
export const dailyCostCapUsd = { min: 0, max: 1_000_000, default: 100, unit: 0.0001 } as const;

/**
 * Credits, in whole ones (one is a US dollar of mission cost): the trial and how long it lasts, what a mission reserves ahead of
 * its cost, the balance below which it counts as low, and the most that one grant may hold.
 */
export const credits = {
  trial: 100,
  trialLasts: days(30),
  reserved: 1,
  low: 10,
  perGrant: { min: 1, max: 1_000_000 },
} as const;

/** How long a mission continues whose cost has used up the credits, unless the settings say otherwise. Milliseconds. */
export const exhaustedMission = { grace: minutes(2) } as const;

/** Of one scheduled task or automation: its triggers and labels, and how far ahead it tells. */
export const recurring = {
  triggers: { min: 1, max: 10 },
  labels: 20,
  upcoming: { min: 1, max: 5, default: 5 },
} as const;

/**
 * Bringing runs to their tracker: how many are taken at a time and how many of those are under way at once, for how long nobody
 * else takes them (milliseconds; longer than all of them can take), how often a run is tried and how long it rests in between.
 */
export const dispatch = {
  batch: 50,
  atOnce: 10,
  lease: minutes(2),
  attempts: 10,
  rest: { min: seconds(10), max: minutes(10) },
} as const;

/**
 * What is asked of the vendors of connectors: how long all the calls of one verb may take together (milliseconds: a whole batch of
 * dispatches, ten at once, ends within its lease), bytes of an answer, entries of a list's page, and pages that are looked through.
 */
export const vendorCalls = { timeout: seconds(20), bytes: 16 * 1024 * 1024, page: 100, pages: 5 } as const;

/** How long a vendor is left alone that wants us to wait: without saying for how long, and at most. Milliseconds. */
export const vendorRest = { unsaid: minutes(1), max: hours(1) } as const;

/** Reading a file of a repository on this machine: how long git may take, in milliseconds. */
export const localGit = { timeout: seconds(10) } as const;

/**
 * What is done in the background: how often a process looks for what others have written down, and for what a lost process left
 * half done; how many jobs of a queue it does at once; how long a job waits for somebody to do it at all, and how long one is kept
 * that was given up. Milliseconds.
 */
export const background = {
  look: seconds(1),
  tidy: seconds(30),
  atOnce: 5,
  kept: { waiting: days(14), failed: days(7) },
} as const;

/**
 * The queues of the background: how often a job is tried again, and how long it rests before that (each time twice as long and,
 * so that many don't return at once, up to twice that: a day in all); after how long whoever does it counts as lost (longer than
 * it can take). Milliseconds.
 */
export const queues = {
  mail: { retries: 12, rest: seconds(15), hold: minutes(2) },
  'finish issue': { retries: 12, rest: seconds(15), hold: minutes(2) },
} as const;

/**
 * A runtime's hold on a run: how long it lasts without a heartbeat and how often one should come (milliseconds), how often a run
 * that lost its runtime is given to another, and how long one rests that was handed back.
 */
export const lease = { lasts: seconds(60), heartbeat: seconds(10), claims: 3, rest: seconds(10) } as const;

/**
 * Which harnesses connected runtimes offer: for how long a runtime counts as connected that is not heard of, how often that is
 * written, and how long it is kept. Milliseconds.
 */
export const harnessPresence = { lasts: minutes(2), step: seconds(30), kept: days(1) } as const;

/** How long a run waits to be taken before it has failed, in milliseconds. */
export const waitingRun = { lasts: hours(24) } as const;

/** What one report of a runtime may hold: entries, and how far its clock may be ahead (milliseconds). */
export const report = {
  runs: 50,
  sandboxes: 50,
  environments: 100,
  metricsPerSandbox: 120,
  fragments: 50,
  planItems: 50,
  /** Pieces of one log. */
  logPieces: 50_000,
  fragmentsPerSandbox: 100_000,
  usd: { min: 0, max: 10_000 },
  harnesses: { min: 1, max: 10 },
  clockAhead: minutes(1),
} as const;

/**
 * Milliseconds without a heartbeat after which a running sandbox counts as stale, and after which it has failed, as has a run that
 * nobody else took by then.
 */
export const silence = { stale: minutes(2), failed: minutes(10) } as const;

/** How long a runtime has to take down an environment that has expired, in milliseconds. */
export const environmentGrace = minutes(10);

/** How much of what belongs to a record is shown beside it: rows, or points of a curve. */
export const shown = { perParent: 20, sessions: 100, fragments: 200, metrics: 240, sparkline: 60 } as const;

/** How many of the next occurrences of an organization are shown together. */
export const upcomingShown = { min: 1, max: 50, default: 10 } as const;

/**
 * Samples of sandboxes: how long they are kept, how much time one partition holds, how far ahead partitions are made; and how many
 * samples one point of a curve is the mean of, at most.
 */
export const sandboxMetrics = { kept: days(28), partition: days(7), ahead: days(14), perPoint: 50 } as const;

/** The address of an artifact's content: how long it is good at least, and for how long the same one is given. Milliseconds. */
export const artifactAddress = { lifetime: hours(1), step: minutes(15) } as const;

/**
 * Uploads: how long an address is good, and an upload to it may take; how long a sender may be silent; after how long without a
 * sign of life another may try (must be longer), and how often a sign is given; and how long what nobody wants any more is still
 * taken from the line, so that the sender comes to read why. Milliseconds.
 */
export const artifactUpload = {
  lifetime: minutes(15),
  silence: minutes(1),
  hold: { lasts: minutes(2), renewed: seconds(30) },
  linger: seconds(5),
  /** At once: of one organization, and of one process. */
  perOrganization: 16,
  perProcess: 64,
} as const;

/** How long a content waits in the storage for an artifact that has it, in milliseconds. */
export const artifactContent = { unclaimed: days(1) } as const;

/**
 * What a bucket is asked: bytes of one part of a content (the protocol's least), how many of them are under way at once, open
 * connections, and how long it may take to connect, to answer, and to go on. Milliseconds.
 */
export const bucketRequests = {
  part: 5 * 1024 * 1024,
  parts: 2,
  connections: 512,
  connect: seconds(3),
  answer: seconds(30),
  silence: minutes(1),
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

/** The upstream sign-in provider: how long it may take to answer, and how long its metadata is kept. Milliseconds. */
export const upstreamProvider = { timeout: seconds(5), kept: hours(1) } as const;

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
  /** A browser is remembered as one in which an email address has signed in. */
  knownBrowser: days(180),
  passkeyChallenge: minutes(5),
  /** From leaving for the upstream provider to coming back. */
  upstreamSignIn: minutes(10),
  consoleSession: days(14),
  invite: days(7),
  artifact: days(90),
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

/**
 * Milliseconds. An idle connection outlives the 60 s after which common load balancers give up theirs: a request that they send
 * while we close would be lost. A connection that they open ahead of its first request lives as long, hence the headers' time.
 */
export const connections = { keepAlive: seconds(65), headers: seconds(66) } as const;

/** How long any body may take to arrive, an upload's excepted. Milliseconds. */
export const bodyArrival = seconds(60);

/** Request sizes in bytes. */
export const bytes = {
  jsonBody: 256 * 1024,
  graphqlBody: 256 * 1024,
  graphqlAnswer: 8 * 1024 * 1024,
  oauthBody: 64 * 1024,
  consoleForm: 64 * 1024,
  /** What one answer shows of a log. */
  logContent: 1024 * 1024,
  /** A file that is read from a repository. */
  repositoryFile: 1024 * 1024,
  /** The content of one artifact. */
  artifact: 512 * 1024 * 1024,
  /** The records in the answer to one MCP request as JSON, and the content of an artifact that is read as a resource. */
  mcpAnswer: 4 * 1024 * 1024,
  mcpContent: 1024 * 1024,
} as const;

/** What one GraphQL request may ask. */
export const graphql = {
  operationsPerBatch: 20,
  depth: 12,
  aliases: 30,
  directives: 50,
  tokens: 2_000,
  /** Of a request: of all the operations of its batch together. */
  cost: 20_000,
  /** So much cost counts as one request against the rate; an operation counts as one at least. */
  costPerRatePoint: 1_000,
  /** Parsed documents kept in memory, and the longest text (in characters) that is worth it. */
  cachedDocuments: 200,
  cachedDocumentLength: 4_000,
} as const;

/**
 * Open subscriptions: of one credential, person, organization and process; how long one goes on before its reader must come back; how often its
 * credential is looked up at least, and how old that look may be when something is delivered. Milliseconds.
 */
export const subscriptions = {
  perCredential: 10,
  perPerson: 50,
  /** Unless the settings say otherwise. */
  perOrganization: 200,
  perProcess: 1_000,
  lifetime: hours(1),
  look: { every: seconds(10), fresh: seconds(1) },
} as const;

/**
 * How a process hears of changes: how long it rests before it connects again, how often it makes sure of its connection and how
 * long that may take; and how often it looks when there is no connection that could listen. Milliseconds.
 */
export const listening = {
  rest: { min: 50, max: seconds(10) },
  probe: { every: seconds(30), timeout: seconds(5) },
  poll: seconds(2),
} as const;

/**
 * What one MCP request may ask: the messages of a batch (only protocol version 2025-03-26 knows them), and how long it follows a run
 * that it started, which is well below the timeout of clients (60 s). Milliseconds.
 */
export const mcp = { messagesPerBatch: 20, follow: seconds(30) } as const;

/** Calls of MCP tools that follow a run at once. */
export const mcpFollowers = { all: 500, perKey: 5 } as const;

/** Open MCP streams of changes (`subscriptions/listen`): of one credential and of all, and how long one stays open. Milliseconds. */
export const mcpListeners = { all: 200, perKey: 2, lifetime: minutes(5) } as const;

/** Entries of one page of MCP resources, and of one completion (MCP: at most 100). */
export const mcpPage = { resources: 50, completions: 100 } as const;

/** Invites in 24 hours: of an organization unless the settings say otherwise, and to one email address whoever sends them. */
export const invitesPerDay = { organization: 100, recipient: 5 } as const;

/** The config file in which a repository declares its MCP servers, and the bindings of one project. */
export const mcpConfig = { bytes: 256 * 1024, depth: 100, servers: 50, secretRefs: 20, warnings: 100 } as const;

/** What a binding may hold: entries of each list. */
export const mcpBinding = { roles: 5, approvedTools: 500, credentials: 20, egressHosts: 20 } as const;

/**
 * What is taken of a remote MCP server: bytes of one answer, tools and pages of a list, characters of the words and bytes of the
 * definition of one tool, how long listing and one call may take, and how old a tool snapshot may be when a run asks for its tools.
 * Milliseconds.
 */
export const mcpRemote = {
  bytes: 4 * 1024 * 1024,
  tools: 500,
  pages: 20,
  title: 200,
  description: 8_000,
  definition: 64 * 1024,
  list: seconds(20),
  call: minutes(2),
  fresh: minutes(10),
} as const;

/**
 * Signing in to the authorization server of a remote MCP server: how long a person has, bytes of one answer, how long all requests
 * of one step may take together, and how long before its end an access token is refreshed. Milliseconds.
 */
export const mcpOAuth = {
  lifetime: minutes(10),
  bytes: 64 * 1024,
  timeout: seconds(15),
  refreshAhead: seconds(60),
} as const;

export const rates = {
  /** Per client network. */
  failedAuthenticationsPerMinute: 300,
  /** Per network, whatever email addresses it names. */
  signInMailsPerHourAndNetwork: 120,
  /** Per email address and network: one network does not reach the bound of an address. */
  signInMailsPerDayToAddressFromNetwork: 20,
  /** Per email address, from browsers in which it has never signed in: each mail allows five guesses at a code. */
  signInMailsPerDayToAddress: 100,
  /** Per browser in which the email address has signed in before. */
  signInMailsPerDayOfKnownBrowser: 20,
  /** Per network, whatever email addresses it guesses at. */
  signInTriesPerHourAndNetwork: 120,
  /** Per network: sign-ins started at the upstream provider. */
  upstreamSignInsPerHourAndNetwork: 120,
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
  /** Per organization, likewise. */
  requestsPerMinuteOrganization: 12_000,
} as const;

/** How long a readiness probe waits for the database, in milliseconds. */
export const probes = { databaseAnswer: seconds(2) } as const;
