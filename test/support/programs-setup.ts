// Builds the programs that tests start, once for a whole test run. Vitest resolves no `#…` imports for this file.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isFresh, output, root } from '../../scripts/output.ts';
import { buildService, bundle } from '../../scripts/service-build.ts';
import { unpackBrowser } from './browser-package.ts';

export default async function setup(): Promise<void> {
  await Promise.all([
    buildService(),
    buildPrograms(),
    // The browser is unpacked once, because otherwise each worker would unpack it. If this fails, the tests that need the browser report
    // the failure.
    unpackBrowser().catch(() => {}),
  ]);
}

/**
 * Bundles the programs of tests that import the service: without bundles, each process would compile every file again and take twice as
 * long.
 */
async function buildPrograms(): Promise<void> {
  const folder = path.join(output, 'test');
  const names = readdirSync(import.meta.dirname).flatMap((name) => /^(.*-process)\.js$/.exec(name)?.[1] ?? []);
  const isBuilt = (name: string) =>
    isFresh(path.join(folder, `${name}.js`), path.join(root, 'src'), import.meta.dirname);
  if (names.every(isBuilt)) return;
  await bundle(Object.fromEntries(names.map((name) => [name, `test/support/${name}.js`])), folder);
}
