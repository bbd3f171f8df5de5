// Descriptions of the settings, for docs/configuration.md. The types require an entry for each setting of the service.
import type { cellSettings } from '#foundation/settings/cell-settings.ts';
import type { namesOfRunnerSettings, stripeSettings, upstreamSettings } from '#foundation/settings/setting-groups.ts';
import type { settings } from '../src/config.ts';

/** The default in words, if the code computes it (null: the constant in the code is shown), and the meaning of the setting. */
export type Description = [told: string | null, text: string];

type ServiceSetting = keyof (typeof settings.shape &
  typeof upstreamSettings.shape &
  typeof stripeSettings.shape &
  typeof cellSettings.shape);

export const service: Record<ServiceSetting, Description> = {
  HOST: [null, 'address that the service listens on'],
  PORT: [null, 'port that the service listens on'],
  PUBLIC_URL: [
    '`http://localhost:PORT`',
    'address of the API. A request whose `Host` is not one of these four addresses or a loopback name gets a 421',
  ],
  ISSUER_URL: ['`PUBLIC_URL`', 'address of the authorization server and the console'],
  MCP_URL: ['`PUBLIC_URL`', 'address of the MCP server, without `/mcp`'],
  A2A_URL: ['`PUBLIC_URL/a2a`', 'address of the A2A endpoint'],
  SECRET_KEY: [
    'created in `DATA_DIR` on loopback',
    '32 bytes in base64 that encrypt secrets; required unless all public addresses are loopback',
  ],
  DATABASE_URL: [
    'the embedded PostgreSQL',
    'PostgreSQL 15 or newer; `postgres://user:password@one:5432,two:5432/app?target_session_attrs=read-write` names several servers, and the service uses the one that accepts writes',
  ],
  DATABASE_DIRECT_URL: [
    '`DATABASE_URL`',
    'direct connection for live changes, if `DATABASE_URL` leads to a pooler. Behind a pooler in transaction mode, changes are polled every two seconds without it',
  ],
  DATABASE_REPLICA_URL: [
    null,
    'streaming standby of `DATABASE_URL` that serves reads; processes may use different standbys',
  ],
  DATABASE_POOL_MAX: [null, 'maximum number of connections per process to the database, and to the replica'],
  DATABASE_POOLER: [
    null,
    '`transaction`: the database is behind a pooler in transaction mode, so statements are not prepared',
  ],
  DATABASE_DRIVER: [
    null,
    '`plain`: statements use only the public interfaces of pg, which is slower. Use it if a release of pg or knex breaks `fast`',
  ],
  V8_FLAGS: [null, '`off`: the service changes none of V8’s flags'],
  DATA_DIR: [null, 'folder of the embedded database, the service key and the contents of artifacts'],
  SMTP_URL: [
    'the development mailbox',
    'server that sends emails. The development mailbox exists only if all public addresses are loopback',
  ],
  CONTACT_URL: ['none', '`https:` or `mailto:` address of the operator, for people who want the enterprise plan'],
  OPERATOR_EMAILS: [
    'nobody',
    'email addresses of the people who may see the page *Operations* ([Operate it](operate.md#see-what-the-installation-does)), separated by commas',
  ],
  MAIL_FROM: ['`no-reply@` the host of `PUBLIC_URL`', 'address of the sender of emails'],
  CLAIM_GRANT_TYPE: [null, 'name of the OAuth grant by which agents claim tokens, as published in the metadata'],
  TRUSTED_ISSUERS: [
    'none',
    'issuers of identity assertions for agents, as JSON: `[{"issuer", "displayName", "jwksUri"?, "clientIds"?, "maySendEvents"?}]`',
  ],
  TRACE_VIEWER_URL: [
    'none',
    'viewer for Playwright traces, such as `https://trace.playwright.dev`. The page of a trace has a link to it, and the viewer loads the trace in the browser from its signed address',
  ],
  LINEAR_API_URL: [null, 'endpoint of Linear'],
  GITHUB_API_URL: [null, 'endpoint of GitHub'],
  REGISTRATIONS_PER_HOUR: [null, 'maximum number of agents that register from one network, across all processes'],
  INVITES_PER_DAY: [null, 'maximum number of invites per organization; half of it per person, and 5 per recipient'],
  REQUESTS_PER_MINUTE: [
    null,
    'maximum number of requests per credential and process; the workers of one process share it',
  ],
  REQUESTS_PER_MINUTE_ORGANIZATION: [
    null,
    'maximum number of requests per organization and process; the workers of one process share it',
  ],
  REQUESTS_PER_MINUTE_RUNTIME: [
    null,
    'maximum number of requests per runtime and process, and also of all runtimes of an organization together; these requests do not count as requests of the organization',
  ],
  SUBSCRIPTIONS_PER_ORGANIZATION: [
    null,
    'maximum number of open subscriptions per organization. Each process, including each of the `WORKERS`, counts only its own subscriptions, as it does for the limits per credential and person',
  ],
  TOKENS_PER_PERSON: [null, 'maximum number of valid personal access tokens; creating one more returns 409'],
  INSTANCE_PRICES: [
    'none',
    'prices of instance types in US dollars per started minute of a mission’s sandbox, as JSON: `{"standard-1": 0.01}` ([Prices of instance types](environments.md#prices-of-instance-types))',
  ],
  MISSION_MINUTES: [
    null,
    'maximum number of minutes for which a mission may use its sandbox; also the limit of missions that set none',
  ],
  MISSION_MODEL_CALLS: [null, 'maximum number of model calls of a mission; also the limit of missions that set none'],
  MISSION_TOKENS: [
    null,
    'maximum number of input and output tokens of a mission; also the limit of missions that set none',
  ],
  LOG_ARCHIVE_HOURS: [
    null,
    'hours from the end of a mission until its logs and transcript are moved from the database to the storage; `0`: never ([Logs leave the database](operate.md#logs-leave-the-database))',
  ],
  TRUST_PROXY: [
    null,
    '`on`: the service is behind a proxy that appends the address of the client to `X-Forwarded-For`',
  ],
  LOG_LEVEL: [null, 'lowest level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`'],
  LOG_FORMAT: ['`pretty` on a terminal, else `json`', '`pretty`: short lines for people; `json`: one object per line'],
  STORAGE_URL: [
    'a folder in `DATA_DIR`',
    'where the contents of artifacts are stored: `file:///folder`, or `s3://bucket/prefix?region=…&endpoint=…&path-style=on` with the credentials of the AWS SDK',
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'none: nothing is traced',
    'collector of traces by OTLP over HTTP, such as `http://localhost:4318` ([Traces and metrics](observability.md))',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: ['none', 'headers for the collector, such as `authorization=Bearer%20…`'],
  OTEL_SERVICE_NAME: [null, 'name of the service in traces'],
  OTEL_RESOURCE_ATTRIBUTES: [
    'none',
    'attributes of the service in traces, such as `deployment.environment.name=staging`',
  ],
  OTEL_TRACES_SAMPLER: [null, 'decides which traces are recorded; `parentbased_` follows the decision of the caller'],
  OTEL_TRACES_SAMPLER_ARG: ['`1`', 'share of the traces that `traceidratio` records, 0 to 1'],
  OTEL_SEMCONV_STABILITY_OPT_IN: [
    'none',
    '`gen_ai_latest_experimental`: attributes and metrics of missions have the names of the latest conventions',
  ],
  SLOW_STATEMENT_MS: [
    null,
    'database statements that take at least this long are logged, without their values; `0`: none',
  ],
  BACKUP_URL: [
    'none: no scheduled backups',
    'where backups of the embedded database are written, encrypted with `SECRET_KEY`: `file:///folder`, or a bucket as in `STORAGE_URL` ([Operate it](operate.md#back-up-and-restore))',
  ],
  BACKUP_HOURS: [null, 'hours from the start of a backup to the next'],
  BACKUP_KEEP: [null, 'number of complete backups that are kept'],
  SCHEDULER: [null, '`off`: this process starts no scheduled work and delivers no background jobs'],
  WORKERS: [
    null,
    'number of processes that serve requests on the port; `auto` means one per core. With more than 1, an additional process runs the scheduler and the embedded database, and `SMTP_URL` is required',
  ],
  LOCAL_RUNNER: [
    null,
    '`off`: `npm start` starts no local runner. It starts one only if `HOST` and all public addresses are loopback',
  ],
  OIDC_ISSUER: [
    'none',
    'issuer of the OpenID provider through which people sign in; set all three `OIDC_` settings or none',
  ],
  OIDC_CLIENT_ID: ['none', 'id of the client at the OpenID provider'],
  OIDC_CLIENT_SECRET: ['none', 'secret of the client'],
  STRIPE_SECRET_KEY: [
    'test money of the built-in provider',
    'secret key for payments through Stripe; set both secrets or none ([Credits and billing](billing.md#take-payments-with-stripe))',
  ],
  STRIPE_WEBHOOK_SECRET: ['none', 'signing secret of the webhook endpoint at Stripe'],
  STRIPE_API_URL: [null, 'URL of the Stripe API, for tests'],
  CELL_NAME: [
    'none: a standalone installation',
    'name of this installation among the `CELLS`; set all three or none ([Cells](cells.md))',
  ],
  CELLS: [
    'none',
    'all cells as name=origin, the same text in each of them: `eu=https://eu.example.com,us=https://us.example.com`. The first is the directory',
  ],
  CELL_SECRET: [
    'none',
    'secret of at least 32 bytes in base64 that the cells share; it signs what they send each other',
  ],
};

export type RunnerOnly =
  | 'PLATFORM_URL'
  | 'RUNNER_UPDATE'
  | 'POLL_MS'
  | 'HEARTBEAT_MS'
  | 'SAMPLE_MS'
  | 'FLUSH_MS'
  | 'TIMEOUT_MS'
  | 'GRACE_MS'
  | 'RUNTIME'
  | 'KUBERNETES_NAMESPACE'
  | 'KUBERNETES_RELAY_URL'
  | 'KUBERNETES_RELAY_PORT'
  | 'KUBERNETES_RUNNER_IMAGE'
  | 'KUBERNETES_MISSION_IMAGE'
  | 'KUBERNETES_RUNTIME_CLASS'
  | 'KUBERNETES_SERVICE_ACCOUNT'
  | 'KUBERNETES_PULL_SECRETS'
  | 'KUBERNETES_USER'
  | 'KUBERNETES_CPUS'
  | 'KUBERNETES_NETWORK_POLICY'
  | 'KUBERNETES_START_MS'
  | 'KUBERNETES_KEEP_SECONDS'
  | 'KUBERNETES_DRAIN_MS'
  | 'KUBERNETES_SANDBOXES'
  | 'KUBERNETES_WARM_PODS'
  | 'KUBERNETES_WARM_KEEP_SECONDS';

export const runner: Record<(typeof namesOfRunnerSettings)[number] | RunnerOnly, Description> = {
  ANTHROPIC_API_KEY: ['none', 'API key of Anthropic, used if the organization has not connected its own'],
  ANTHROPIC_BASE_URL: ['the vendor’s', 'address of a compatible server'],
  OPENAI_API_KEY: ['none', 'API key of OpenAI, used if the organization has not connected its own'],
  OPENAI_BASE_URL: [
    'the vendor’s',
    'address of a compatible server, including the version: `http://models.internal:8000/v1`',
  ],
  CLAUDE_CODE_PROGRAM: ['`claude` in `PATH`', 'path of Claude Code'],
  CODEX_PROGRAM: ['`codex` in `PATH`', 'path of Codex'],
  OPENCODE_PROGRAM: ['`opencode` in `PATH`', 'path of OpenCode'],
  ACP_HARNESS: [
    'none',
    'command of a harness that speaks the Agent Client Protocol, as JSON: `{"command":"qwen","args":["--acp"]}` ([ACP harnesses](harnesses.md#acp-harnesses))',
  ],
  HARNESS_TEST: [
    '`on`',
    '`off`: the runner offers harnesses without testing them first against a scripted model ([Harnesses](harnesses.md)). A program that has passed is tested again only after it has changed',
  ],
  HARNESS_INSTALL: [
    '`on` if the platform is on loopback, else `off`',
    'whether the runner installs OpenCode or Codex with npm if a model is connected and no harness is found ([Run a real agent](agents.md))',
  ],
  HARNESSES_DIR: [
    '`harnesses` in `DATA_DIR`',
    'folder in which the runner installs harnesses; missions must not be able to write to it',
  ],
  npm_config_registry: ['that of npm', 'package registry from which harnesses are installed'],
  npm_config_userconfig: ['that of npm', 'passed to npm'],
  npm_config_globalconfig: ['that of npm', 'passed to npm'],
  NODE_EXTRA_CA_CERTS: [
    'none',
    'file of additional certificate authorities, for npm and for missions in cells and containers',
  ],
  http_proxy: ['none', 'same as `HTTP_PROXY`'],
  https_proxy: ['none', 'same as `HTTPS_PROXY`'],
  no_proxy: ['none', 'same as `NO_PROXY`'],
  HTTP_PROXY: ['none', 'passed to npm'],
  HTTPS_PROXY: ['none', 'passed to npm; also the proxy through which missions reach the hosts of their network policy'],
  NO_PROXY: ['none', 'passed to npm'],
  CONFINEMENT: [
    '`auto`',
    'isolation of scripts instead of `ISOLATION`: `bubblewrap` (a cell), `unshare` or `none`. `auto` means the isolation of agents or, if there is none, the first of these that works',
  ],
  ISOLATION: [
    '`cell` if it works',
    'isolation of missions: `cell`, `container` or `none`. With `none`, an agent can do everything that its user account can, and network policies are not enforced',
  ],
  RUNTIME: [
    '`machine`',
    '`kubernetes`: missions run in pods of a cluster ([Run missions in a Kubernetes cluster](kubernetes.md)), and the settings `KUBERNETES_…` apply in place of `ISOLATION`',
  ],
  KUBERNETES_NAMESPACE: ['that of the service account or of `KUBECONFIG`', 'namespace of missions'],
  KUBERNETES_RELAY_URL: [
    'none',
    'required: address of this runner for pods, with an IP address instead of a name: `http://10.0.0.5:8080`',
  ],
  KUBERNETES_RELAY_PORT: [null, 'port on which the runner listens for pods'],
  KUBERNETES_RUNNER_IMAGE: ['none', 'required: image of the runner, for its container in each pod'],
  KUBERNETES_MISSION_IMAGE: ['`node:22-bookworm`', 'image of missions whose template names none'],
  KUBERNETES_RUNTIME_CLASS: ['that of the cluster', '`RuntimeClass` of pods, such as gVisor or Kata'],
  KUBERNETES_SERVICE_ACCOUNT: ['`default` of the namespace', 'service account of pods, which get no token of it'],
  KUBERNETES_PULL_SECRETS: ['none', 'Secrets for the registries of images, separated by commas'],
  KUBERNETES_USER: [null, 'id of the user of all containers'],
  KUBERNETES_CPUS: [
    null,
    'maximum number of CPUs of a mission; also the number for missions whose template names none',
  ],
  KUBERNETES_NETWORK_POLICY: [
    '`required`',
    '`ignored`: the runner starts although its pods reach the API server, because the cluster enforces no NetworkPolicy',
  ],
  KUBERNETES_START_MS: [
    null,
    'maximum number of milliseconds until a pod has started, including the pull of its image',
  ],
  KUBERNETES_KEEP_SECONDS: [null, 'seconds after which a finished Job or `SandboxClaim` is removed'],
  KUBERNETES_DRAIN_MS: [null, 'milliseconds that a stopping runner has to finish the open requests of missions'],
  KUBERNETES_SANDBOXES: [
    '`auto`',
    'whether missions have a `SandboxClaim` in place of a Job: where agent-sandbox is installed and the runner has the rights (`auto`), always (`required`), or never (`off`)',
  ],
  KUBERNETES_WARM_PODS: [
    null,
    'number of warm pods per image and size, which start before their mission; needs `SandboxClaim`',
  ],
  KUBERNETES_WARM_KEEP_SECONDS: [
    null,
    'seconds without a mission after which the template of an image and size is removed, with its pods',
  ],
  CONTAINER_PROGRAM: ['`docker` in `PATH` if its engine runs, else `podman`', 'engine for `ISOLATION=container`'],
  CONTAINER_IMAGE: [
    '`node:22-bookworm`',
    'image of missions that have none of their own: Linux with Node.js, git, a shell and the tools that missions need',
  ],
  CONTAINER_RUNTIME: [
    'the engine’s own',
    'OCI runtime of the engine for the containers of missions, such as `runsc` (gVisor). The runner does not start if the engine does not have it',
  ],
  CONTAINER_BUILD_NETWORK: [
    '`none`',
    'network of the engine for building the Dockerfiles of environments (`none`, `default` or `host` with Docker’s BuildKit). No network policy applies to these builds',
  ],
  DOCKER_HOST: ['none', 'passed to Docker'],
  CONTAINER_HOST: ['none', 'passed to Podman'],
  XDG_RUNTIME_DIR: ['none', 'passed to a rootless engine'],
  HOME: ['that of the user', 'passed to the engine and to git'],
  RUNS_AT_ONCE: [
    'one for each free GB of memory, at most four for each processor',
    'maximum number of concurrent missions',
  ],
  RUNNER_LABELS: [
    'none',
    'labels of the runner, separated by commas, such as `gpu,arm64`: [sandbox templates](environments.md#labels) can require them',
  ],
  MEMORY_MB: ['the memory that is free at the start', 'maximum memory of a mission, whatever its instance type'],
  DISK_MB: [
    '10240, at most half of the disk space that is free at the start',
    'maximum disk space of the folder of a mission, and maximum size of each file',
  ],
  PROCESSES: [null, 'maximum number of processes of a mission'],
  MIRRORS_DIR: [
    'a temporary folder, removed at the end',
    'folder in which mirrors of repositories are kept between missions; other users must not be able to write to it',
  ],
  ATTESTATION_NOTES: [
    '`on`',
    '`off`: attestations are not pushed as notes of their commits ([Attestations](attestations.md))',
  ],
  CHECKPOINT_MS: [null, 'milliseconds between two checkpoints of a working agent'],
  EGRESS_PRIVATE_HOSTS: [
    'none',
    'hosts at private addresses that network policies may name, as `host:port`, separated by commas',
  ],
  SETUP_TIMEOUT_MS: [null, 'maximum number of milliseconds for the setup of an environment'],
  ENVIRONMENTS_MB: [
    null,
    'maximum disk space of prepared environments in `DATA_DIR`; the runner deletes the least recently used environments first',
  ],
  KEEP_ENVIRONMENTS_MS: [null, 'milliseconds after its last use until a prepared environment is deleted'],
  WORKSPACES_DIR: [
    'none',
    'folder in which the workspaces of agents are kept after their mission. Do not run git in them: an agent may have prepared their files to execute commands',
  ],
  KEEP_WORKSPACES_MS: [null, 'milliseconds until a workspace in `WORKSPACES_DIR` is deleted'],
  V8_FLAGS: ['`on`', '`off`: the runner changes none of V8’s flags'],
  RUNNER_UPDATE: [
    '`off`',
    '*own*: https address of a folder to which you upload the packages of releases. The runner installs the release of the service from it with npm into `releases` next to `HARNESSES_DIR`, and switches to that release between missions ([Updates](local-runner.md#updates))',
  ],
  PLATFORM_URL: ['`http://localhost:4000`', '*own*: address of the service'],
  POLL_MS: [null, '*own*: milliseconds between two claims of an idle runner'],
  HEARTBEAT_MS: [null, '*own*: milliseconds between two heartbeats'],
  SAMPLE_MS: [null, '*own*: milliseconds between two measurements of CPU and memory'],
  FLUSH_MS: [
    null,
    '*own*: milliseconds between two batches of log lines on average; after a pause the first line is sent at once',
  ],
  TIMEOUT_MS: [null, '*own*: maximum number of milliseconds for a step, whatever its template says'],
  GRACE_MS: [null, '*own*: milliseconds that a harness has to end before it is killed'],
};
