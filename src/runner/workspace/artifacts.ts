// Artifacts of a step: the files of its artifacts folder are uploaded to signed URLs and registered.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunLease, Session } from '../contract.ts';
import { type ArtifactKind, registerArtifact } from '../generated/operations.ts';
import { openInside } from '../isolation/inside.ts';
import type { Platform } from '../protocol/platform.ts';
import { clip } from '../text.ts';
import type { Change } from './change.ts';

type Described = [kind: ArtifactKind, contentType: string];

/** Signatures of known formats, in hexadecimal digits; a dot matches any digit. */
const signatures: [RegExp, ...Described][] = [
  [/^89504e470d0a1a0a/, 'screenshot', 'image/png'],
  [/^ffd8ff/, 'screenshot', 'image/jpeg'],
  [/^52494646.{8}57454250/, 'screenshot', 'image/webp'],
  [/^.{8}66747970/, 'video', 'video/mp4'],
  [/^1a45dfa3/, 'video', 'video/webm'],
  [/^504b0304/, 'trace', 'application/zip'],
];

/** The types of text files, by the extension of the file's name. */
const texts: Record<string, Described> = {
  '.log': ['log', 'text/plain'],
  '.txt': ['log', 'text/plain'],
  '.md': ['report', 'text/markdown'],
  '.html': ['report', 'text/html'],
  '.json': ['file', 'application/json'],
};

/**
 * Determines the type of a file by its content, because its name proves nothing. A trace is a ZIP archive, but so are office documents, so
 * a trace must also have the extension .zip.
 */
async function describe(content: FileHandle, ending: string): Promise<Described> {
  const { buffer, bytesRead } = await content.read(Buffer.alloc(4_096), 0, 4_096, 0);
  const head = buffer.subarray(0, bytesRead);
  const known = signatures.find(([signature]) => signature.test(head.toString('hex', 0, 16)));
  if (known) return known[1] === 'trace' && ending !== '.zip' ? ['file', known[2]] : [known[1], known[2]];
  return isText(head) ? (texts[ending] ?? ['file', 'text/plain']) : ['file', 'application/octet-stream'];
}

function isText(head: Buffer): boolean {
  try {
    // The option `stream` ignores an incomplete last character, because only the beginning of the file is read.
    return !new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }).includes('\0');
  } catch {
    return false;
  }
}

const isTextual = (contentType: string): boolean =>
  contentType.startsWith('text/') || contentType === 'application/json';

/** Maximum bytes of a text file that is searched for secrets. */
const maxMaskedBytes = 16 * 1024 * 1024;

/** A masked copy in a file of the runner; null if the file contains no secrets. */
async function maskedCopy({ mask }: Platform, content: FileHandle, folder: string): Promise<FileHandle | null> {
  const text = await readFrom(content);
  const masked = mask(text);
  return masked === text ? null : writeBeside(folder, masked);
}

/** Writes a file outside the artifacts folder, so that no program of the mission can change it. */
async function writeBeside(folder: string, text: string): Promise<FileHandle> {
  const file = path.join(path.dirname(folder), `artifact-${randomUUID()}`);
  await writeFile(file, text, { mode: 0o600 });
  return open(file);
}

/** Reads a file from its beginning, without changing the position of the handle. */
async function readFrom(content: FileHandle): Promise<string> {
  const buffer = Buffer.alloc((await content.stat()).size);
  const { bytesRead } = await content.read(buffer, 0, buffer.length, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

const criterionEnding = '.criterion.json';
const maxCriterionBytes = 16 * 1024;

/** The acceptance criterion that a file is evidence for, from `NAME.criterion.json`; null if the content is invalid. */
async function readCriterion(folder: string, file: string, { mask }: Platform) {
  const content = await openInside(folder, file);
  try {
    if ((await content.stat()).size > maxCriterionBytes) return null;
    const { criterion, passed = null } = JSON.parse(mask(await readFrom(content)));
    const fits = typeof criterion === 'string' && criterion.trim() !== '' && [true, false, null].includes(passed);
    return fits ? { criterion: clip(criterion, 500), criterionPassed: passed as boolean | null } : null;
  } catch {
    return null;
  } finally {
    await content.close();
  }
}

/** A text that the runner uploads. */
type Text = { caption: string; kind: ArtifactKind; contentType: string };

/**
 * Uploads the diff and the commits of the branch. The artifacts are identified by their ids, because a program of the mission may submit
 * files with the same names.
 */
export async function uploadChange(
  platform: Platform,
  lease: RunLease,
  session: Session,
  folder: string,
  { diff, commits }: Change,
): Promise<{ changeArtifactId: string; commitsArtifactId: string }> {
  const upload = (text: Text, content: string) => uploadText(platform, lease, session, folder, text, content);
  const list = { caption: 'change.commits.json', kind: 'file', contentType: 'application/json' } as const;
  return {
    changeArtifactId: await upload({ caption: 'change.diff', kind: 'file', contentType: 'text/x-diff' }, diff),
    commitsArtifactId: await upload(list, JSON.stringify(commits)),
  };
}

/** Uploads a text as an artifact. @returns the id of the artifact */
export async function uploadText(
  platform: Platform,
  lease: RunLease,
  { leaseId: _, ...origin }: Session,
  folder: string,
  text: Text,
  content: string,
): Promise<string> {
  const file = await writeBeside(folder, content);
  const contentKey = await platform.upload(lease, text.caption, file).finally(() => file.close());
  return (await platform.mutate(registerArtifact, { ...lease, contentKey, ...text, ...origin })).artifactId;
}

/**
 * Uploads every file of the folder under its path. Uploaded files are removed, because the next step of the run uses the same folder. A file
 * `NAME.criterion.json` belongs to the artifact NAME; if it cannot be read, it is an artifact like every other file.
 */
export async function uploadArtifacts(
  platform: Platform,
  lease: RunLease,
  { leaseId: _, ...origin }: Session,
  folder: string,
): Promise<void> {
  // Symbolic links are skipped, because a link may point to a file that the mission has not created.
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => path.join(parentPath, name)).sort();
  const criteria = new Map<string, NonNullable<Awaited<ReturnType<typeof readCriterion>>>>();
  for (const file of paths.filter((name) => name.endsWith(criterionEnding))) {
    const criterion = await readCriterion(folder, file, platform);
    if (criterion && paths.includes(file.slice(0, -criterionEnding.length))) criteria.set(file, criterion);
  }
  for (const file of paths.filter((name) => !criteria.has(name))) {
    const caption = clip(path.relative(folder, file), 500);
    const content = await openInside(folder, file);
    const [kind, contentType] = await describe(content, path.extname(file).toLowerCase());
    const { size } = await content.stat();
    const masked =
      isTextual(contentType) && size <= maxMaskedBytes ? await maskedCopy(platform, content, folder) : null;
    const contentKey = await platform
      .upload(lease, caption, masked ?? content)
      .finally(() => Promise.all([content.close(), masked?.close()]));
    const described = { contentKey, kind, contentType, caption, ...criteria.get(file + criterionEnding), ...origin };
    await platform.mutate(registerArtifact, { ...lease, ...described });
    await rm(file, { force: true });
    if (criteria.has(file + criterionEnding)) await rm(file + criterionEnding, { force: true });
  }
}
