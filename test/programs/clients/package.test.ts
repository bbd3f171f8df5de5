// The typed client as a package: packed, installed without a network, and used by a separate program, a compiler and a browser.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as platform from '../../../clients/typescript/src/exports.ts';
import { openBrowser } from '../../support/browser.ts';
import { createOwner } from '../../support/callers.ts';
import { projectFolder } from '../../support/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

const name = 'agent-engineering-platform-client';
const { version } = JSON.parse(readFileSync(path.join(projectFolder, 'package.json'), 'utf8'));
const launched = await openBrowser();
if (typeof launched === 'string') console.warn(`The test in a browser is skipped: ${launched}.`);
let world: World;
let token: string;
let folder: string;
const run = (program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env } });

beforeAll(async () => {
  world = await openWorld();
  ({ token } = await createOwner(world, 'Ada', 'Acme'));
  folder = mkdtempSync(path.join(tmpdir(), 'aep-client-'));
  const npm = { npm_config_cache: path.join(folder, 'cache'), npm_config_offline: 'true' };
  // The test packs a copy, because packing compiles into the package's folder.
  const source = path.join(folder, 'source');
  cpSync(path.join(projectFolder, 'clients/typescript'), source, {
    recursive: true,
    filter: (file) => !file.endsWith('dist'),
  });
  const tools = `${path.join(projectFolder, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`;
  await run('npm', ['pack', '--pack-destination', folder], source, { ...npm, PATH: tools });
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  await run('npm', ['install', `${name}-${version}.tgz`], folder, npm);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.close();
});

it('the package has no dependency, and the examples of its README work in Node', async () => {
  const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
  const readme = readFileSync(path.join(projectFolder, 'clients/typescript/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);
  writeFileSync(path.join(folder, 'program.js'), blocks.join('\n'));
  const program = run(process.execPath, ['program.js'], folder, { AEP_URL: world.url, AEP_TOKEN: token });
  const client = platform.createClient({ url: world.url, token });
  // No runtime works on the mission, so the test cancels it: only then does the program, which waits for its end, exit.
  const started = await vi.waitFor(async () => {
    const [run] = await client.runs().take(1);
    expect(run).toBeDefined();
    return run!;
  });
  await client.cancelRun({ runId: started.id });
  const lines = (await program).stdout.split('\n');
  expect(lines).toContain('Hello active');
  expect(lines).toContain('canceled ');
  expect(lines).toContain(`That is ${started.projectId} already.`);
  expect(lines).toContain('true');
});

it('the package has types that a compiler finds', async () => {
  const typed = `import { createClient, type Project } from '${name}';
const client = createClient({ url: '', token: '' });
export const first: Promise<Project[]> = client.projects({ limit: 1 }).take(1);
// @ts-expect-error: a member that is required
void client.createProject({ name: 'Shop' });
`;
  writeFileSync(path.join(folder, 'typed.ts'), typed);
  const tsc = path.join(projectFolder, 'node_modules/typescript/bin/tsc');
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2023,dom',
    '--types',
    '',
  ];
  await run(process.execPath, [tsc, ...options, 'typed.ts'], folder);
});

const document = `<!doctype html><title>Page</title><script type="module">
import * as platform from './exports.js';
globalThis.platform = platform;
</script>`;

it.skipIf(typeof launched === 'string')('the package works in a browser', async () => {
  const page = await (launched as Browser).newPage();
  await page.route(`${world.url}/packed/*`, (route) => {
    const file = new URL(route.request().url()).pathname.split('/').at(-1)!;
    if (file === 'page') return route.fulfill({ contentType: 'text/html', body: document });
    return route.fulfill({
      path: path.join(folder, 'node_modules', name, 'dist', file),
      contentType: 'text/javascript',
    });
  });
  await page.goto(`${world.url}/packed/page`);
  await page.waitForFunction('globalThis.platform');
  const seen = await page.evaluate(
    async ({ url, token }) => {
      const { createClient, ApiError } = (globalThis as unknown as { platform: typeof platform }).platform;
      const client = createClient({ url, token });
      const project = await client.createProject({ name: 'Browser', repoFullName: 'acme/browser' });
      const run = await client.startMission({ projectId: project.id, prompt: 'echo' });
      const seen: unknown[] = [];
      for await (const { status } of client.runUpdated({ runId: run.id })) {
        seen.push(status);
        if (status === 'dispatching') await client.cancelRun({ runId: run.id });
      }
      const error = await client.run({ runId: 'run_none' }).catch((error: unknown) => error);
      return [...seen, error instanceof ApiError, (error as InstanceType<typeof ApiError>).code];
    },
    { url: world.url, token },
  );
  await page.close();
  expect(seen).toEqual(['dispatching', 'canceled', true, 'not_found']);
});
