// What a script has left in its artifacts folder: uploaded file by file to signed addresses, then registered.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { openInside } from './inside.ts';
import { clip } from './journal.ts';
import type { Held } from './mission.ts';
import type { Platform } from './platform.ts';

/** What a file is, by its ending. */
const kinds: Record<string, [kind: string, contentType: string]> = {
  '.png': ['screenshot', 'image/png'],
  '.jpg': ['screenshot', 'image/jpeg'],
  '.webp': ['screenshot', 'image/webp'],
  '.mp4': ['video', 'video/mp4'],
  '.webm': ['video', 'video/webm'],
  '.zip': ['trace', 'application/zip'],
  '.log': ['log', 'text/plain'],
  '.txt': ['log', 'text/plain'],
  '.diff': ['file', 'text/plain'],
  '.md': ['report', 'text/markdown'],
  '.html': ['report', 'text/html'],
  '.json': ['file', 'application/json'],
};

/** Hands in every file of the folder, by the path it has there, and removes it: the next step of the run has the same folder. */
export async function handIn(
  platform: Platform,
  held: Held,
  origin: { role: string; sandboxId: string; sessionId: string },
  folder: string,
): Promise<void> {
  // Links are left where they are: what they lead to is not the script's work.
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const file of files.map(({ parentPath, name }) => path.join(parentPath, name)).sort()) {
    const [kind, contentType] = kinds[path.extname(file).toLowerCase()] ?? ['file', 'application/octet-stream'];
    const caption = clip(path.relative(folder, file), 500);
    const content = await openInside(folder, file);
    const contentKey = await platform.upload(held, caption, content).finally(() => content.close());
    const described = { contentKey, kind, contentType, caption, ...origin };
    await platform.say('registerArtifact', { ...held, ...described }, '{ artifactId }');
    await rm(file, { force: true });
  }
}
