// `npm run demo:agent`: a mission of a real harness on a sample repository. It needs no key, because its model is a script. Starts a
// separate service on a temporary folder until Ctrl-C, and uses operator commands and the public API. With `--dependencies`, the repository
// needs an npm package: a first mission installs it, and a second mission starts in the environment that the first has prepared.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { agentsRefused } from '../src/runner/isolation/isolation.ts';
import { startModels } from '../test/support/stand-in-models.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'demo-agent-'));
// For root, the database runs under an ordinary account. If that account could not access this folder, the database would keep its data in
// another place, which is not deleted afterwards.
if (process.getuid?.() === 0) chmodSync(folder, 0o711);
const repository = path.join(folder, 'repositories/demo/dates');
const git = (...args: string[]) => {
  const by = ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.com'];
  return execFileSync('git', ['-C', repository, ...by, ...args], { encoding: 'utf8' });
};

const hasDependencies = process.argv.includes('--dependencies');

const test = `import test from 'node:test';
import assert from 'node:assert';
import { day } from './day.mjs';
test('the day is that of UTC', () => assert.equal(day(new Date('2026-01-01T00:30:00+01:00')), '2025-12-31'));
`;
const [before, after] = [
  'date.toLocaleDateString("sv", { timeZone: "Europe/Berlin" })',
  'date.toISOString().slice(0, 10)',
];
mkdirSync(repository, { recursive: true });
git('init', '-q', '-b', 'main');
writeFileSync(path.join(repository, 'day.test.mjs'), test);
writeFileSync(path.join(repository, 'day.mjs'), `export const day = (date) => ${before};\n`);
if (hasDependencies) addDependency();
git('add', '.');
git('commit', '-qm', 'A helper with a bug');

function addDependency(): void {
  const dependencies = { 'is-number': '7.0.0' };
  const integrity = 'sha512-41Cifkg6e8TylSpdtTpeLVMqvSBEVzTttHvERD741+pnZ8ANv0004MRL43QKPDlK9cGvNp6NZWZUBlbGXYxxng==';
  const packages = { '': { dependencies }, 'node_modules/is-number': { version: '7.0.0', integrity } };
  const files = {
    'package.json': { name: 'dates', private: true, type: 'module', dependencies },
    'package-lock.json': { name: 'dates', lockfileVersion: 3, requires: true, packages },
    '.devcontainer/devcontainer.json': { postCreateCommand: 'npm ci' },
  };
  mkdirSync(path.join(repository, '.devcontainer'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(path.join(repository, name), JSON.stringify(content, null, 2));
  writeFileSync(path.join(repository, '.gitignore'), 'node_modules\n');
  const using = `import isNumber from 'is-number';\n${test}test('the year is a number', () => assert.ok(isNumber(day(new Date()).slice(0, 4))));\n`;
  writeFileSync(path.join(repository, 'day.test.mjs'), using);
}

/** Steps of the scripted model (test/support/stand-in-models.ts). */
const steps = [
  { shell: 'node --test', think: 'First I check what fails.' },
  { read: 'day.mjs' },
  { edit: { file: 'day.mjs', old: before, new: after } },
  { shell: 'node --test && git commit -qam "Use the day of UTC"' },
  { say: 'The test passes: the helper takes the day of UTC now.' },
];
const prompt = `Make the date test pass.\n<script>${JSON.stringify(steps)}</script>`;

const models = await startModels();
const url = `http://localhost:${process.env.PORT ?? 4000}`;
const env = {
  ...process.env,
  DATA_DIR: path.join(folder, 'data'),
  // Installed harnesses are stored for the next run of this script.
  HARNESSES_DIR: path.resolve(process.env.HARNESSES_DIR || '.data/harnesses'),
  ...{ ANTHROPIC_BASE_URL: models.url, ANTHROPIC_API_KEY: 'script' },
  ...{ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: 'script' },
};
const node = ['--import', 'tsx'];
const admin = (...args: string[]) =>
  JSON.parse(execFileSync(process.execPath, [...node, 'src/admin.ts', ...args], { env, encoding: 'utf8' }));

const service = spawn(process.execPath, [...node, 'src/main.ts', 'start'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
service.once('exit', (code) => process.exit(code ?? 0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => service.kill('SIGTERM'));
process.once('exit', () => {
  service.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});
const harness = await offered();
if (!harness) {
  console.error('The local runner offers no harness (docs/local-runner.md). Without bubblewrap, set ISOLATION=none.');
  service.kill('SIGTERM');
} else await run(harness);

/** The first harness that the local runner offers, found or installed at its start. */
function offered(): Promise<string | undefined> {
  return new Promise((resolve) => {
    let isStarting = true;
    // The output is read to the end, because a full pipe would block the service.
    createInterface({ input: service.stdout! }).on('line', (line) => {
      // The service's line with the console's URL is not printed, because the URL does not lead to the organization of the demo.
      isStarting &&= !line.startsWith('Console ');
      if (isStarting || /Installing|not installed|\bnpm error/.test(line)) console.log(line);
      const found = /\b(claude-code|codex|opencode) \d+\.\d+\.\d+: /.exec(line)?.[1];
      if (found) resolve(found);
      if (line.includes(agentsRefused)) resolve(undefined);
    });
  });
}

async function run(harness: string): Promise<void> {
  // The demo has its own owner: a person gets trial credits only once, and the demo's missions spend their owner's credits.
  const owner = 'workshop@example.com';
  admin('org:create', '--name', 'Workshop', '--owner', owner, '--slug', 'workshop');
  for (const [kind, ...more] of [
    ['tracker'],
    ['scm', '--external-org', path.join(folder, 'repositories')],
  ] as string[][]) {
    admin('integration:create', '--org', 'workshop', '--vendor', 'builtin', '--kind', kind!, '--name', kind!, ...more);
  }
  const scopes = ['--scopes', 'all', '--days', '1'];
  const { token } = admin('token:create', '--email', owner, '--org', 'workshop', ...scopes);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (method: string, where: string, body?: object) => {
    const answered = await fetch(url + where, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = await answered.json();
    if (!answered.ok || answer.errors) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const { id: projectId } = await ask('POST', '/v1/projects', { name: 'Dates', repoFullName: 'demo/dates' });
  const model = harness === 'codex' ? 'gpt-5.5' : 'claude-sonnet-4-5';
  const sandbox = { kind: 'existing', templateId: 'standard' };
  const agent = { name: 'Builder', role: 'builder', harness, model, sandbox };
  const { id: agentId } = await ask('POST', '/v1/agents', agent);
  for (let left = hasDependencies ? 2 : 1; left > 0; left--)
    await runMission(ask, harness, owner, { projectId, agentId });
  console.log('Ctrl-C ends the service and removes its data.');
}

type Ask = (method: string, where: string, body?: object) => Promise<Json>;
// biome-ignore lint/suspicious/noExplicitAny: tests members of parsed JSON
type Json = any;

async function runMission(ask: Ask, harness: string, owner: string, chosen: { projectId: string; agentId: string }) {
  const query = `mutation ($projectId: String!, $prompt: String!, $agentId: String) {
    startMission(projectId: $projectId, prompt: $prompt, agentId: $agentId) { id } }`;
  const [begun, callsBefore] = [Date.now(), models.seen.length];
  const { data } = await ask('POST', '/graphql', { query, variables: { prompt, ...chosen } });
  const { id } = data.startMission;
  console.log(`\n${harness} works on the mission. Its model is a script: nothing is sent to a vendor.`);
  console.log(`Watch it at ${url}/console/o/workshop/runs/${id} after you have signed in as ${owner}:`);
  console.log(`  ${admin('sign-in-link', '--email', owner).url}`);
  let run = await ask('GET', `/v1/runs/${id}`);
  while (run.status === 'dispatching' || run.status === 'running') {
    await wait(500);
    run = await ask('GET', `/v1/runs/${id}`);
  }
  const seconds = Math.round((Date.now() - begun) / 1_000);
  const why = run.lastError ? `: ${run.lastError}` : '';
  console.log(`It is ${run.status} after ${seconds} s${why}. Cost by list prices: ${run.missionCostUsd} USD.`);
  if (hasDependencies) await showEnvironment(ask, run, models.seen[callsBefore]?.at);
  if (run.branch) console.log(git('log', '-p', '--format=%an: %s', `main..${run.branch}`));
}

/** Prints how the environment of a run was prepared, which connections it opened, and how long it took from the claim to the first model call. */
async function showEnvironment(ask: Ask, { id, startedAt }: Json, firstCallAt: number | undefined): Promise<void> {
  for (const { status, seconds, bytes } of (await ask('GET', `/v1/runs/${id}/preparations`)).data)
    console.log(`Its environment is ${status}: set up in ${seconds} s, ${Math.round(bytes / 1024)} KiB.`);
  for (const { host, port, phase, verdict, count } of (await ask('GET', `/v1/runs/${id}/connections`)).data)
    console.log(`Connections to ${host}:${port} in the phase ${phase}, ${verdict}: ${count}`);
  if (firstCallAt) console.log(`From its claim to the first call of the model: ${firstCallAt - startedAt} ms.`);
}
