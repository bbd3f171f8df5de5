// Settings that are set together or not at all, and the error lines for invalid settings.
import path from 'node:path';
import { z } from 'zod';
import { identifier, isIdentifier, originOf } from '../http/addresses.ts';
import { type CellConfig, cellSettings, cellsOf, unlistedCell } from './cell-settings.ts';

const isRequired = (prefix: string) => `is required because another ${prefix} setting is given`;

/** The operator's OpenID provider: all three settings or none. */
export const upstreamSettings = z.object({
  OIDC_ISSUER: z.string(isRequired('OIDC_')).refine(isIdentifier, `must be ${identifier}`),
  OIDC_CLIENT_ID: z.string(isRequired('OIDC_')),
  OIDC_CLIENT_SECRET: z.string(isRequired('OIDC_')),
});

const upstreamSignInOf = (set: z.infer<typeof upstreamSettings>) =>
  Object.freeze({ issuer: set.OIDC_ISSUER, clientId: set.OIDC_CLIENT_ID, clientSecret: set.OIDC_CLIENT_SECRET });

/** The operator's account at Stripe: both secrets or none. */
export const stripeSettings = z.object({
  STRIPE_SECRET_KEY: z
    .string(isRequired('STRIPE_'))
    .regex(/^[sr]k_(test|live)_\w+$/, 'must be a secret or restricted key of Stripe, such as sk_test_…'),
  STRIPE_WEBHOOK_SECRET: z
    .string(isRequired('STRIPE_'))
    .regex(/^whsec_[\w+/=-]+$/, 'must be the signing secret of a webhook endpoint of Stripe, whsec_…'),
  STRIPE_API_URL: z
    .string()
    .refine((value) => isIdentifier(value) && originOf(value) !== undefined, `must be ${identifier}, and without path`)
    .default('https://api.stripe.com'),
});

const stripeOf = (set: z.infer<typeof stripeSettings>) =>
  Object.freeze({
    secretKey: set.STRIPE_SECRET_KEY,
    webhookSecret: set.STRIPE_WEBHOOK_SECRET,
    apiUrl: set.STRIPE_API_URL,
  });

/** Parses the settings of a group; null when none of them is set. */
const parseGroup = <S extends z.ZodObject>(group: S, set: Record<string, string>) =>
  Object.keys(set).some((name) => name in group.shape) ? group.safeParse(set) : null;

export interface SettingGroups {
  readonly upstreamSignIn: Readonly<{ issuer: string; clientId: string; clientSecret: string }> | null;
  /** The account at Stripe; null means that the built-in provider takes test money. */
  readonly stripe: Readonly<{ secretKey: string; webhookSecret: string; apiUrl: string }> | null;
  /** The cells; null for a standalone installation. */
  readonly cells: CellConfig | null;
}

/** The values of all groups, which are valid if there is no error line. */
export function readGroups(set: Record<string, string>): { values: SettingGroups; errors: string[] } {
  const upstream = parseGroup(upstreamSettings, set);
  const stripe = parseGroup(stripeSettings, set);
  const cells = parseGroup(cellSettings, set);
  return {
    values: {
      upstreamSignIn: upstream?.data ? upstreamSignInOf(upstream.data) : null,
      stripe: stripe?.data ? stripeOf(stripe.data) : null,
      cells: cells?.data ? cellsOf(cells.data) : null,
    },
    errors: [
      ...[upstream, stripe, cells].flatMap((group) => linesOf(group?.error?.issues)),
      ...unlistedCell(cells?.data),
    ],
  };
}

/** One line per issue, missing settings first. */
export function linesOf(issues: readonly z.core.$ZodIssue[] = []): string[] {
  const lines = issues.map(({ path: [name, ...steps], message }) => {
    const inside = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
    return `${String(name)}${inside}: ${message}`;
  });
  const isMissing = (line: string): number => Number(line.includes(': is required because'));
  return lines.sort((a, b) => isMissing(b) - isMissing(a));
}

/** Settings that `npm start` passes to the local runner, which checks them (docs/configuration.md#the-local-runner). */
export const namesOfRunnerSettings = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'CLAUDE_CODE_PROGRAM',
  'CODEX_PROGRAM',
  'OPENCODE_PROGRAM',
  'ACP_HARNESS',
  'HARNESS_INSTALL',
  'HARNESS_TEST',
  'HARNESSES_DIR',
  'npm_config_registry',
  'npm_config_userconfig',
  'npm_config_globalconfig',
  'NODE_EXTRA_CA_CERTS',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'CONFINEMENT',
  'ISOLATION',
  'CONTAINER_PROGRAM',
  'CONTAINER_IMAGE',
  'CONTAINER_RUNTIME',
  'CONTAINER_BUILD_NETWORK',
  'DOCKER_HOST',
  'CONTAINER_HOST',
  'XDG_RUNTIME_DIR',
  'HOME',
  'RUNS_AT_ONCE',
  'RUNNER_LABELS',
  'MEMORY_MB',
  'DISK_MB',
  'PROCESSES',
  'MIRRORS_DIR',
  'ATTESTATION_NOTES',
  'CHECKPOINT_MS',
  'WORKSPACES_DIR',
  'KEEP_WORKSPACES_MS',
  'EGRESS_PRIVATE_HOSTS',
  'SETUP_TIMEOUT_MS',
  'ENVIRONMENTS_MB',
  'KEEP_ENVIRONMENTS_MS',
  'V8_FLAGS',
] as const;

/** Settings of npm, which installs harnesses. */
const namesOfNpmSettings = [
  ...['npm_config_registry', 'npm_config_userconfig', 'npm_config_globalconfig', 'NODE_EXTRA_CA_CERTS'],
  ...['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]),
];

interface RunnerEnvironment {
  PATH: string;
  HARNESSES_DIR: string;
  DATA_DIR: string;
}

/** The environment of the local runner, from the settings. */
export const runnerSettings = (env: NodeJS.ProcessEnv, dataDir: string): RunnerEnvironment => ({
  PATH: env.PATH ?? '',
  DATA_DIR: dataDir,
  HARNESSES_DIR: path.join(dataDir, 'harnesses'),
  ...Object.fromEntries(
    [...namesOfRunnerSettings, ...namesOfNpmSettings].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  ),
});
