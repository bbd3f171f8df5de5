// Reads the whole content of an artifact, for a surface that includes it in a message.
import type { Caller } from '#access/principal.ts';
import { readContent } from '#domain/work/artifacts/content.ts';
import { findArtifact } from '#domain/work/artifacts/operations.ts';

/** Reads the content; null when it is missing from the storage. The caller of this function has checked the size. @throws 404 */
export async function readWholeContent(caller: Caller, artifactId: string): Promise<Buffer | null> {
  const content = await readContent(await findArtifact(caller, artifactId));
  if (!content) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
