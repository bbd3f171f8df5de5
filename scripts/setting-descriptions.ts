// Descriptions of the settings, for docs/configuration.md. The types require an entry for each setting of the service.
import type { namesOfRunnerSettings, stripeSettings, upstreamSettings } from '#foundation/settings/setting-groups.ts';
import type { settings } from '../src/config.ts';

/** A default that the code derives, in words (null means the code's constant), and the meaning. */
export type Description = [told: string | null, text: string];

type ServiceSetting = keyof (typeof settings.shape & typeof upstreamSettings.shape & typeof stripeSettings.shape);

const isOwnAddress = 'an address that clients use; any other `Host` is a 421, loopback names excepted';

export const service: Record<ServiceSetting, Description> = {
  HOST: [null, 'the address that the service listens at'],
  PORT: [null, 'the port that it listens at'],
  PUBLIC_URL: ['`http://localhost:PORT`', `the API: ${isOwnAddress}`],
  ISSUER_URL: ['`PUBLIC_URL`', 'the authorization server and the console'],
  MCP_URL: ['`PUBLIC_URL`', 'the MCP server, without `/mcp`'],
  A2A_URL: ['`PUBLIC_URL/a2a`', 'the A2A endpoint'],
  SECRET_KEY: ['created in `DATA_DIR` on loopback', '32 bytes, base64; required elsewhere'],
  DATABASE_URL: [
    'the embedded PostgreSQL',
    'PostgreSQL 15 or newer; `postgres://user:password@one:5432,two:5432/app?target_session_attrs=read-write` names several servers, of which the one that takes writes is followed',
  ],
  DATABASE_DIRECT_URL: [
    '`DATABASE_URL`',
    'bypasses a pooler for live changes; with a pooler in transaction mode and without it, changes are polled every two seconds',
  ],
  DATABASE_REPLICA_URL: [
    null,
    'one streaming standby of `DATABASE_URL`, to read from; other processes may name another one',
  ],
  DATABASE_POOL_MAX: [null, 'connections per process, and as many to the replica'],
  DATABASE_POOLER: [null, '`transaction` behind a pooler in transaction mode: no prepared statements'],
  DATABASE_DRIVER: [
    null,
    '`plain` sends statements by the public interfaces of pg, slower: the way out when a release of pg or knex changes what `fast` relies on',
  ],
  V8_FLAGS: [null, '`off` leaves the flags of V8 as Node sets them'],
  DATA_DIR: [null, 'the embedded database, the service key, artifact contents'],
  SMTP_URL: ['the development mailbox', 'the mailbox exists on loopback only'],
  CONTACT_URL: ['none', 'https or mailto address at which people ask the operator for the enterprise plan'],
  MAIL_FROM: ['`no-reply@` the host of `PUBLIC_URL`', 'sender of emails'],
  CLAIM_GRANT_TYPE: [null, 'the published name of the claim grant'],
  TRUSTED_ISSUERS: ['none', 'JSON: `[{"issuer", "displayName", "jwksUri"?, "clientIds"?, "maySendEvents"?}]`'],
  TRACE_VIEWER_URL: [
    'none',
    'viewer of Playwright traces that the page of a trace leads to, such as `https://trace.playwright.dev`: it loads the trace in the browser by its signed address',
  ],
  LINEAR_API_URL: [null, 'another endpoint of Linear'],
  GITHUB_API_URL: [null, 'another endpoint of GitHub'],
  REGISTRATIONS_PER_HOUR: [null, 'agents per network, over all processes'],
  INVITES_PER_DAY: [null, 'per organization; half of them per person, and 5 per recipient'],
  REQUESTS_PER_MINUTE: [null, 'per credential and process; the workers of one process count together'],
  REQUESTS_PER_MINUTE_ORGANIZATION: [null, 'per organization and process; the workers of one process count together'],
  SUBSCRIPTIONS_PER_ORGANIZATION: [
    null,
    'live subscriptions per organization; each process, also each of `WORKERS`, counts these, and those of a credential and a person, by itself',
  ],
  TOKENS_PER_PERSON: [null, 'live personal access tokens; one more is a 409'],
  INSTANCE_PRICES: [
    'none',
    'JSON: instance types with US dollars per started minute of a mission’s sandbox, such as `{"standard-1": 0.01}` ([Prices of instance types](environments.md#prices-of-instance-types))',
  ],
  MISSION_MINUTES: [null, 'the most minutes that a mission may hold its sandbox, and the limit of one that sets none'],
  MISSION_MODEL_CALLS: [null, 'the most model calls of a mission, and the limit of one that sets none'],
  MISSION_TOKENS: [null, 'the most tokens of a mission, read and written, and the limit of one that sets none'],
  TRUST_PROXY: [null, '`on`: your proxy appends to `X-Forwarded-For`'],
  LOG_LEVEL: [null, '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`'],
  LOG_FORMAT: ['by terminal', '`pretty`: short lines, the default on a terminal; `json`: the default elsewhere'],
  STORAGE_URL: [
    'a folder in `DATA_DIR`',
    'artifact contents: `file:///folder`, or `s3://bucket/prefix?region=…&endpoint=…&path-style=on` with the AWS SDK’s credentials',
  ],
  SCHEDULER: [null, '`off`: this process starts no scheduled work and delivers no background jobs'],
  WORKERS: [
    null,
    'processes that serve behind one port, `auto` for one per core; another one keeps the scheduler and the embedded database. More than 1 needs `SMTP_URL`',
  ],
  LOCAL_RUNNER: [
    null,
    '`off`: `npm start` starts no runtime. It never does unless `HOST` and all public addresses are loopback',
  ],
  OIDC_ISSUER: ['none', 'sign-in through this OpenID provider; all three `OIDC_` settings or none'],
  OIDC_CLIENT_ID: ['none', 'the client at the OpenID provider'],
  OIDC_CLIENT_SECRET: ['none', 'its secret'],
  STRIPE_SECRET_KEY: [
    'test money of the built-in provider',
    'payments through Stripe; both secrets or none ([Credits and billing](billing.md#take-payments-with-stripe))',
  ],
  STRIPE_WEBHOOK_SECRET: ['none', 'the signing secret of the webhook endpoint'],
  STRIPE_API_URL: [null, 'a stand-in for tests'],
};

export type RunnerOnly =
  | 'PLATFORM_URL'
  | 'POLL_MS'
  | 'HEARTBEAT_MS'
  | 'SAMPLE_MS'
  | 'FLUSH_MS'
  | 'TIMEOUT_MS'
  | 'GRACE_MS';

export const runner: Record<(typeof namesOfRunnerSettings)[number] | RunnerOnly, Description> = {
  ANTHROPIC_API_KEY: ['none', 'the key for models of Anthropic, where the organization has connected none'],
  ANTHROPIC_BASE_URL: ['the vendor’s', 'a compatible server'],
  OPENAI_API_KEY: ['none', 'the key for models of OpenAI, where the organization has connected none'],
  OPENAI_BASE_URL: ['the vendor’s', 'a compatible server, with its version: `http://models.internal:8000/v1`'],
  CLAUDE_CODE_PROGRAM: ['`claude` in `PATH`', 'the program of Claude Code'],
  CODEX_PROGRAM: ['`codex` in `PATH`', 'the program of Codex'],
  OPENCODE_PROGRAM: ['`opencode` in `PATH`', 'the program of OpenCode'],
  ACP_HARNESS: [
    '',
    'the command of a harness that speaks the Agent Client Protocol, as JSON: `{"command":"qwen","args":["--acp"]}` ([ACP harnesses](local-runner.md#acp-harnesses))',
  ],
  HARNESS_TEST: [
    '`on`',
    'whether the runner tests each harness with a scripted model before it offers it ([Agents](local-runner.md#agents)); programs that have passed are not tested again until they change',
  ],
  HARNESS_INSTALL: [
    '`on` where the platform is on loopback, else `off`',
    'whether OpenCode or Codex is installed with npm when a model is connected and no harness is found ([Run a real agent](agents.md))',
  ],
  HARNESSES_DIR: ['`harnesses` in `DATA_DIR`', 'where they are installed; missions must not be able to write there'],
  npm_config_registry: ['that of npm', 'the package registry that harnesses are installed from'],
  npm_config_userconfig: ['that of npm', 'handed to npm'],
  npm_config_globalconfig: ['that of npm', 'handed to npm'],
  NODE_EXTRA_CA_CERTS: ['none', 'handed to npm and, with its file, to missions in cells and containers'],
  http_proxy: ['none', 'handed to npm, like `HTTP_PROXY`'],
  https_proxy: ['none', 'like `HTTPS_PROXY`'],
  no_proxy: ['none', 'handed to npm, like `NO_PROXY`'],
  HTTP_PROXY: ['none', 'handed to npm'],
  HTTPS_PROXY: ['none', 'handed to npm; the proxy by which missions reach the hosts of their network policy'],
  NO_PROXY: ['none', 'handed to npm'],
  CONFINEMENT: [
    '`auto`',
    'of scripts, in place of `ISOLATION`: `bubblewrap` (a cell), `unshare`, `none`; `auto` is as agents are, or the first of these that works',
  ],
  ISOLATION: [
    '`cell` where it works',
    'of missions: `cell`, `container` or `none`, which lets an agent do what its user can; a network policy is enforced by the first two',
  ],
  CONTAINER_PROGRAM: ['`docker` or `podman` in `PATH`', 'the engine of `ISOLATION=container`'],
  CONTAINER_IMAGE: ['`node:22-bookworm`', 'Linux with Node.js, git, a shell and what missions need'],
  CONTAINER_RUNTIME: [
    'the engine’s own',
    'runtime of the containers of missions, which the engine knows, such as `runsc` (gVisor); without it no agent runs',
  ],
  CONTAINER_BUILD_NETWORK: [
    '`none`',
    'network of the engine in which Dockerfiles of environments are built (with BuildKit of Docker `none`, `default` or `host`); one that reaches hosts is bound by no policy',
  ],
  DOCKER_HOST: ['none', 'handed to Docker'],
  CONTAINER_HOST: ['none', 'handed to Podman'],
  XDG_RUNTIME_DIR: ['none', 'handed to a rootless engine'],
  HOME: ['that of the user', 'handed to the engine and to git'],
  RUNS_AT_ONCE: ['one for each free GB of memory, at most four for each processor', 'missions at the same time'],
  MEMORY_MB: ['what is free at the start', 'memory that a mission may use at most, whatever its instance type'],
  DISK_MB: [
    '10240, at most half of what is free at the start',
    'disk that a mission may use at most: of its folder, and of one file',
  ],
  PROCESSES: [null, 'processes that a mission may have at most'],
  MIRRORS_DIR: [
    'a temporary folder, removed at the end',
    'where mirrors of repositories stay from mission to mission; nobody else may write there',
  ],
  CHECKPOINT_MS: [null, 'milliseconds between two checkpoints of an agent that works'],
  EGRESS_PRIVATE_HOSTS: [
    'none',
    '`host:port`, separated by commas: hosts of your own that a network policy may name though they are at private addresses',
  ],
  SETUP_TIMEOUT_MS: [null, 'how long the setup of an environment may take'],
  ENVIRONMENTS_MB: [null, 'disk that prepared environments may take in `DATA_DIR`; those unused for longest go first'],
  KEEP_ENVIRONMENTS_MS: [null, 'how long a prepared environment that nobody uses is kept'],
  WORKSPACES_DIR: [
    'none',
    'a folder where the workspaces of agents stay after their mission. What an agent has left there is hostile: no git in it',
  ],
  KEEP_WORKSPACES_MS: [null, 'milliseconds that a workspace stays in `WORKSPACES_DIR`'],
  PLATFORM_URL: ['`http://localhost:4000`', '*own*: the service to take runs from'],
  POLL_MS: [null, '*own*: milliseconds between two questions of an idle runner for a run'],
  HEARTBEAT_MS: [null, '*own*: milliseconds between two heartbeats'],
  SAMPLE_MS: [null, '*own*: milliseconds between two measurements of processor and memory'],
  FLUSH_MS: [null, '*own*: milliseconds that log lines are collected before they are sent'],
  TIMEOUT_MS: [null, '*own*: the most milliseconds that a step may take, whatever its template says'],
  GRACE_MS: [null, '*own*: milliseconds that a harness has to end when it is told to'],
};
