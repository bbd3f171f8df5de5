// A real browser for the tests: the system's Chromium, else the one that came from the npm registry (Linux on x64). It can reach
// this machine and nothing else. Without any there is none, and the tests that need one are skipped with the reason.
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

interface Program {
  executablePath: string;
  env?: Record<string, string>;
}

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const folders = ['/usr/bin', ...(process.env.PATH?.split(path.delimiter) ?? [])];
const onMacs = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

const installed = (): Program[] =>
  [...names.flatMap((name) => folders.map((folder) => path.join(folder, name))), onMacs]
    .filter((executablePath) => existsSync(executablePath))
    .map((executablePath) => ({ executablePath }));

const cache = fileURLToPath(new URL('../node_modules/.cache/chromium-147.0.0', import.meta.url));

/** The browser inside @sparticuz/chromium; with the libraries and fonts beside it where the machine has none. */
async function packaged(): Promise<Program> {
  const executablePath = path.join(cache, 'chromium');
  if (!existsSync(executablePath)) {
    const bin = path.join(path.dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../../bin');
    mkdirSync(cache, { recursive: true });
    for (const archive of ['al2023.tar', 'fonts.tar', 'chromium']) {
      const file = path.join(cache, `${archive}.${process.pid}`);
      await pipeline(
        createReadStream(path.join(bin, `${archive}.br`)),
        createBrotliDecompress(),
        createWriteStream(file, { mode: 0o755 }),
      );
      // The browser last and in one step: a run that is cut short leaves no half of it.
      if (archive === 'chromium') renameSync(file, executablePath);
      else execFileSync('tar', ['-xf', file, '-C', cache, '--no-same-owner']);
      rmSync(file, { force: true });
    }
  }
  const env: Record<string, string> = {};
  if (execFileSync('ldd', [executablePath], { encoding: 'utf8' }).includes('not found')) {
    env.LD_LIBRARY_PATH = path.join(cache, 'lib');
  }
  if (!existsSync('/etc/fonts')) {
    env.FONTCONFIG_FILE = path.join(cache, 'own.conf');
    writeFileSync(
      env.FONTCONFIG_FILE,
      `<fontconfig><dir>${cache}/fonts</dir><cachedir>${cache}</cachedir></fontconfig>`,
    );
  }
  return { executablePath, env };
}

/** Names are not looked up, so whatever wants to leave this machine fails and is seen. */
const args = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--no-pings', '--disable-domain-reliability'];

const launch = ({ executablePath, env }: Program): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args,
    // The kernel's sandbox does not work for root, who is alone in a container.
    chromiumSandbox: process.getuid?.() !== 0,
    ...(env && { env: { ...(process.env as Record<string, string>), ...env } }),
  });

/** A browser, or the reason why there is none. Playwright's own flags keep Chromium from calling home. */
export async function launchBrowser(): Promise<Browser | string> {
  const reasons: string[] = [];
  for (const program of installed()) {
    try {
      return await launch(program);
    } catch (error) {
      reasons.push(`${program.executablePath}: ${firstLine(error)}`);
    }
  }
  try {
    if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('is made for Linux on x64');
    return await launch(await packaged());
  } catch (error) {
    reasons.push(`@sparticuz/chromium: ${firstLine(error)}`);
  }
  return `no Chromium runs here (${reasons.join('; ')})`;
}

const firstLine = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n', 1)[0]!;
