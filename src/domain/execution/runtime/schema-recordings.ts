// Requests of runtimes about recordings, in GraphQL only.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { members, string } from '#graph/members.ts';
import { recordingBounds } from '../../work/recordings/bounds.ts';
import { openRecordingPart, reportRecordingPart } from './recordings.ts';
import { ReportAcknowledgement } from './schema-answers.ts';
import { id, key, ofRun } from './schema-runs.ts';

const ofPart = { ...ofRun, part: key.describe('Your own id of the part: a repeated request changes nothing.') };
const count = z.int().min(0).max(1e6);

const OpenRecordingPartRequest = request(
  'OpenRecordingPartRequest',
  z.object(ofPart).describe('A part of the recording of a run that a runtime is about to store.'),
);
const ReportRecordingPartRequest = request(
  'ReportRecordingPartRequest',
  z
    .object({
      ...ofPart,
      keyId: id.describe('The `keyId` of `openRecordingPart`, for the key with which the content is encrypted.'),
      contentKey: id.describe(
        'The `contentKey` of the upload: 12 bytes nonce, 16 bytes tag, and the ciphertext of AES-256-GCM of the lines compressed with Brotli.',
      ),
      calls: count.describe('Number of calls in the part.'),
      omitted: count.describe('Number of calls whose content is left out.'),
      sizeBytes: z.int().min(0).max(recordingBounds.partBytes).describe('Size of the lines in bytes.'),
    })
    .describe('A part of the recording of a run: JSON lines since the previous part.'),
);

const RecordingKey = builder.objectRef<{ key: string; keyId: string }>('RecordingKey').implement({
  description: 'The key of a part of a recording.',
  fields: (t) =>
    members(t, {
      key: string('32 bytes in Base64, for AES-256-GCM: a secret for this part alone.'),
      keyId: string('Name of the key, for the report of the part.'),
    }),
});

const scope = 'runtime:report';

builder.mutationFields((t) => ({
  openRecordingPart: t.field({
    description:
      'The key with which a runtime encrypts a part of a recording. The response is 409 without the consent of the organization.',
    scope,
    type: RecordingKey,
    args: { input: t.arg({ type: OpenRecordingPartRequest, required: true, description: 'The part.' }) },
    resolve: (_, { input }, { caller }) => openRecordingPart(caller, input),
  }),
  reportRecordingPart: t.field({
    description: 'Adds an uploaded part to the recording of a run.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: ReportRecordingPartRequest, required: true, description: 'The part.' }) },
    resolve: (_, { input }, { caller }) => reportRecordingPart(caller, input),
  }),
}));
