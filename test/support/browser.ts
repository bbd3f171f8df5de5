// A real browser for the tests: the one from the npm registry (Linux on x64), so that every machine tests the same one, or the program
// named by TEST_BROWSER. It can reach only this machine. If neither runs, tests that need a browser are skipped with the reason.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { unpackBrowser } from './browser-package.ts';

interface Program {
  executablePath: string;
  env?: Record<string, string>;
}

/** The browser inside @sparticuz/chromium, with its libraries and fonts if the machine has none. */
async function packaged(): Promise<Program> {
  const folder = await unpackBrowser();
  const executablePath = path.join(folder, 'chromium');
  const env: Record<string, string> = {};
  // Null where there is no ldd.
  const { stdout } = spawnSync('ldd', [executablePath], { encoding: 'utf8' });
  if (stdout === null || stdout.includes('not found')) {
    env.LD_LIBRARY_PATH = path.join(folder, 'lib');
  }
  if (!existsSync('/etc/fonts')) {
    env.FONTCONFIG_FILE = path.join(folder, 'own.conf');
    writeFileSync(
      env.FONTCONFIG_FILE,
      `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}</cachedir></fontconfig>`,
    );
  }
  return { executablePath, env };
}

/** Name resolution is off, so any request to another machine fails visibly. */
const args = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--no-pings',
  '--disable-domain-reliability',
  // Nothing needs WebGL, which a separate process would emulate.
  '--disable-gpu',
];

let launched: Promise<Browser | string> | undefined;

/** The browser of this worker, or the reason why there is none. The files of a worker share it; it ends with the worker. */
export const openBrowser = (): Promise<Browser | string> => (launched ??= launch());

/** Playwright's own flags keep Chromium from calling home. */
async function launch(): Promise<Browser | string> {
  const asked = process.env.TEST_BROWSER;
  try {
    if (!asked && (process.platform !== 'linux' || process.arch !== 'x64'))
      throw new Error('the packaged Chromium is made for Linux on x64; TEST_BROWSER=/path/to/chromium names another');
    const { executablePath, env } = asked ? { executablePath: asked } : await packaged();
    return await chromium.launch({
      executablePath,
      args,
      // The kernel's sandbox does not work for root, the only user in a container.
      chromiumSandbox: process.getuid?.() !== 0,
      // Chromium gets the most basic locale, because its results must not depend on the locale of the machine. It turns this locale into the language
      // tag `en-US@posix`.
      env: { ...(process.env as Record<string, string>), ...env, LC_ALL: 'C.UTF-8', LANGUAGE: '' },
    });
  } catch (error) {
    return `no Chromium runs here: ${String(error instanceof Error ? error.message : error).split('\n', 1)[0]!}`;
  }
}
