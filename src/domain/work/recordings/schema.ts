// Recordings of runs and the consent to them in all APIs.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boolean, epochMs, int, members, safeInt, string } from '#graph/members.ts';
import { createRecordingAddress } from '../artifacts/address.ts';
import { recordingBounds } from './bounds.ts';
import * as operations from './operations.ts';
import { findRecordingSettings, type RecordingSettings, setRecordingSettings } from './settings.ts';

const { days } = recordingBounds;

const RecordingType = builder.objectRef<operations.Recording>('Recording').implement({
  description: 'The model and tool calls that passed through the gateway of a run, as JSON lines.',
  fields: (t) =>
    members(t, {
      runId: string('The run.'),
      calls: int('Number of recorded calls.'),
      omitted: int('Number of calls whose content is left out, because it exceeds the limits of a call or of a run.'),
      sizeBytes: safeInt('Size of the lines in bytes.'),
      createdAt: epochMs('Time when the first calls of the run were stored.'),
      expiresAt: epochMs('Time when the first calls of the run will be deleted.'),
      url: t.string({
        description: 'URL for the download of the lines: valid for about an hour, without a credential.',
        resolve: ({ runId }) => createRecordingAddress(runId),
      }),
    }),
});

const RecordingSettingsType = builder.objectRef<RecordingSettings>('RecordingSettings').implement({
  description: 'Whether an organization records its missions, and for how long.',
  fields: (t) =>
    members(t, {
      isEnabled: boolean('Whether the calls of missions are recorded; false unless an owner has decided otherwise.'),
      days: int('Days after which a recorded call is deleted.'),
    }),
});

builder.queryFields((t) => ({
  recording: t.field({
    description: 'The recording of a run; 404 without one.',
    scope: 'artifacts:read',
    rest: 'GET /runs/{runId}/recording',
    type: RecordingType,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: (_, { runId }, { caller }) => operations.findRecording(caller, runId),
  }),
  recordingSettings: t.field({
    description: 'Whether the organization records its missions, and for how long.',
    scope: 'organizations:read',
    type: RecordingSettingsType,
    resolve: (_, _args, { caller }) => findRecordingSettings(caller),
  }),
}));

builder.mutationField('setRecordingSettings', (t) =>
  t.field({
    description:
      'Decides whether the organization records its missions, and for how long. A running step keeps the setting with which it began. ' +
      'Switching recordings off deletes all recordings of the organization. Only an owner may do this.',
    scope: 'organizations:write',
    type: RecordingSettingsType,
    args: {
      isEnabled: t.arg.boolean({ required: true, description: 'Whether the calls of missions are recorded.' }),
      days: t.arg.int({
        required: true,
        validate: { schema: z.int().min(days.min).max(days.max) },
        description: `Days after which a recorded call is deleted, from ${days.min} to ${days.max}.`,
      }),
    },
    resolve: (_, settings, { caller }) => setRecordingSettings(caller, settings),
  }),
);
