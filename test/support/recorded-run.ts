// A recording of a step in the storage, as a runtime stores it.
import { createCipheriv, randomBytes } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { keyOfPart } from '#domain/work/recordings/keys.ts';
import { RecordingPart } from '#domain/work/recordings/model.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { storage } from '#foundation/storage/storage.ts';
import { storedContent } from './runtime-records.ts';

interface Recorded {
  orgId: Id<'organization'>;
  projectId: Id<'project'>;
  runId: Id<'run'>;
}

/** The content of a part: 12 bytes nonce, 16 bytes tag, and the ciphertext of the compressed lines. */
export function encryptPart(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(brotliCompressSync(text)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Stores the lines as the recording of the run, in place of an earlier one. */
export async function writeRecording({ orgId, projectId, runId }: Recorded, lines: readonly object[]): Promise<void> {
  const id = newId('recordingPart');
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { key: contentKey } = await storedContent(orgId);
  const bytes = encryptPart((await keyOfPart({ id, orgId, personIds: [] }))!.key, text);
  await storage().write(
    contentKey,
    (async function* () {
      yield bytes;
    })(),
    bytes.length,
  );
  const part = { id, orgId, projectId, runId, contentKey, calls: lines.length, omitted: 0, createdAt: now() };
  await RecordingPart.query().delete().where({ runId });
  await RecordingPart.query().insert({ ...part, sizeBytes: Buffer.byteLength(text) } as Partial<RecordingPart>);
}

/** The lines of a recording: one line for a step, and one line for each call that the step has made to a model. */
export const recordedLines = (stepId: string, calls: number): object[] => [
  { type: 'step', stepId, order: { agent: { role: 'builder' }, checkpoint: null } },
  ...Array.from({ length: calls }, (_, i) => ({
    ...{ type: 'call', stepId, number: i + 1, at: now(), method: 'POST', path: '/anthropic/v1/messages' },
    ...{ request: '{"model":"claude-sonnet-4-5"}', status: 200, response: '{}', isOmitted: false },
  })),
];
