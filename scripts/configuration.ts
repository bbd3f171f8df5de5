// `npm run docs`: writes docs/configuration.md, every setting with its default. Names and defaults are read from the code. A setting
// without a description is a type error, and a description without its setting ends the program. `--check` only compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cellSettings } from '#foundation/settings/cell-settings.ts';
import type { namesOfRunnerSettings } from '#foundation/settings/setting-groups.ts';
import { stripeSettings, upstreamSettings } from '#foundation/settings/setting-groups.ts';
import { settings } from '../src/config.ts';
import { type Description, type RunnerOnly, runner, service } from './setting-descriptions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}docs/configuration.md`;

type RunnerSetting = (typeof namesOfRunnerSettings)[number] | RunnerOnly;

const schemas = { ...settings.shape, ...upstreamSettings.shape, ...stripeSettings.shape, ...cellSettings.shape };

/** Returns the default value in the code, as a person would write it in an environment variable. */
function defaultOf(schema: { safeParse(value: unknown): { success: boolean; data?: unknown } }): string | null {
  const { success, data } = schema.safeParse(undefined);
  return success && (typeof data === 'string' || typeof data === 'number') ? `\`${data}\`` : null;
}

/**
 * Numeric defaults of the runner's settings by name, read from calls such as `setting('POLL_MS', 1_000)` in its sources; null if the
 * machine determines the default.
 */
function readRunnerDefaults(): Map<string, string | null> {
  const folder = `${root}src/runner`;
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
  const found = sources.join('\n').matchAll(/\bsetting\('([A-Z_]+)', ([\d_* ]+\))?/g);
  return new Map(
    [...found].map(([, name, factors]) => {
      const number = factors && parseFactors(factors);
      return [name!, number ? `\`${number}\`` : null];
    }),
  );
}

const parseFactors = (text: string): number =>
  text
    .slice(0, -1)
    .split('*')
    .reduce((product, factor) => product * Number(factor.replaceAll('_', '').trim()), 1);

const row = (name: string, usual: string | null, [told, text]: Description): string =>
  `| \`${name}\` | ${told ?? usual ?? 'none'} | ${text} |`;

const table = (rows: string[]): string => ['| Setting | Default | Meaning |', '|---|---|---|', ...rows].join('\n');

function printConfiguration(): string {
  const runnerDefaults = readRunnerDefaults();
  const undescribed = [...runnerDefaults.keys()].filter((name) => !(name in runner));
  if (undescribed.length > 0) throw new Error(`Describe ${undescribed.join(', ')} in scripts/setting-descriptions.ts.`);
  const ofService = Object.entries(schemas).map(([name, schema]) =>
    row(name, defaultOf(schema), service[name as keyof typeof schemas]),
  );
  const ofRunner = Object.entries(runner).map(([name, description]) =>
    row(name, runnerDefaults.get(name as RunnerSetting) ?? null, description),
  );
  return `<!-- Written by \`npm run docs\`: edit scripts/setting-descriptions.ts. -->

# Configuration

Settings are environment variables. An empty variable counts as absent. With invalid settings the service does not start: one message lists all of
them, without their values.

## The service

${table(ofService)}

For a bucket, the service needs the permissions \`s3:GetObject\`, \`PutObject\`, \`DeleteObject\`, \`ListBucket\`, \`AbortMultipartUpload\` and
\`ListBucketMultipartUploads\`. Add a lifecycle rule to the bucket that aborts multipart uploads after some days.

## The local runner

\`npm start\` passes these settings to the runner that it starts, except for those marked *own*: only a runner that you start yourself reads
them ([The local runner](local-runner.md)). Settings of proxies and of npm are passed, too.

${table(ofRunner)}
`;
}

const text = printConfiguration();
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('docs/configuration.md does not match the code: run npm run docs.');
  process.exitCode = 1;
}
