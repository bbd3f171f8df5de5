// `npm run manifests`: writes deploy/kubernetes/service.yaml, the output of the chart in deploy/helm for people who use kubectl alone. Needs
// `helm`. Its first line has a digest of the chart, so that a test finds a stale file without `helm`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './output.ts';

const chart = path.join(root, 'deploy/helm');
const values = path.join(root, 'deploy/kubernetes/values.yaml');
const manifestsFile = path.join(root, 'deploy/kubernetes/service.yaml');

/** The first line of the file: who writes it, from which chart. */
export function headingOf(): string {
  const names = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  const texts = [values, ...names.sort().map((name) => path.join(chart, name))].map((file) => readFileSync(file));
  const digest = texts.reduce((hash, text) => hash.update(text), createHash('sha256')).digest('hex');
  return `# Written by \`npm run manifests\` from deploy/helm and deploy/kubernetes/values.yaml (sha256 ${digest}).\n`;
}

/** The objects that `helm` renders, with further arguments. */
export const renderChart = (...args: string[]): string =>
  execFileSync('helm', ['template', 'aep', chart, ...args], { encoding: 'utf8', stdio: 'pipe' });

/** The text of the file. */
export const manifestsOf = (): string =>
  headingOf() + renderChart('--values', values).replaceAll(/^# Source: .*\n/gm, '');

if (process.argv[1] === import.meta.filename) writeFileSync(manifestsFile, manifestsOf());
