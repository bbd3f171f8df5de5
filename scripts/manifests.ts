// `npm run manifests`: writes the files of deploy/kubernetes, the output of the chart in deploy/helm for people who use kubectl alone. The first
// line of each has a digest of the chart, so that a test finds a stale file without `helm`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { helmProgram } from './helm.ts';
import { root } from './output.ts';

const chart = path.join(root, 'deploy/helm');
const folder = path.join(root, 'deploy/kubernetes');
const values = path.join(folder, 'values.yaml');

const runner = ['--set', 'platform.enabled=false,runner.enabled=true'];
const option = (setting: string, template: string): string[] => [
  ...[...runner, '--set', `runner.${setting}=true`],
  ...['--show-only', `templates/${template}`],
];
/** The files, each with the arguments of the `helm` command that generates it. */
export const manifestFiles: Record<string, string[]> = {
  'service.yaml': [],
  'runner.yaml': runner,
  'runner-sandboxes.yaml': option('agentSandbox.enabled', 'runner-sandboxes.yaml'),
  'runner-scaling.yaml': option('autoscaling.keda.enabled', 'runner-scaling.yaml'),
};

/** The first line of a file: the command that writes it, and a digest of its sources. */
export function headingOf(file: string): string {
  const names = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  const texts = [values, ...names.sort().map((name) => path.join(chart, name))].map((name) => readFileSync(name));
  const digest = texts
    .reduce((hash, text) => hash.update(text), createHash('sha256').update(manifestFiles[file]!.join(' ')))
    .digest('hex');
  return `# Written by \`npm run manifests\` from deploy/helm and deploy/kubernetes/values.yaml (sha256 ${digest}).\n`;
}

/** The output of `helm` for the chart, in the namespace aep. */
export const runHelm = (command: 'template' | 'install', ...args: string[]): string =>
  execFileSync(helmProgram(), [command, 'aep', chart, '--namespace', 'aep', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  });

/** The text of a file. */
export const manifestsOf = (file: string): string =>
  headingOf(file) +
  runHelm('template', '--values', values, ...manifestFiles[file]!).replaceAll(/^# Source: .*\n/gm, '');

if (process.argv[1] === import.meta.filename)
  for (const file of Object.keys(manifestFiles)) writeFileSync(path.join(folder, file), manifestsOf(file));
