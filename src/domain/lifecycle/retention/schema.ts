// How long the details of ended missions are kept: reads and changes this setting, in GraphQL only.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { intOrNull, members } from '#graph/members.ts';
import { findRetentionSettings, type RetentionSettings, retentionBounds, setRetentionSettings } from './settings.ts';

const meanings = {
  runDays:
    'Days from the end of a mission until its details are deleted: steps, messages, logs, sandboxes, artifacts and recordings. Its result, ' +
    'cost and attestations are kept. Null means that only the settings of logs, artifacts and sandboxes apply.',
  logDays:
    'Days from the end of a mission until its logs and transcript are deleted; null keeps them as long as their sandboxes.',
  artifactDays: 'Days from the end of a mission until its artifacts are deleted; null keeps them for 90 days.',
  sandboxDays: 'Days from the end of a mission until its sandboxes are deleted, with their logs; null keeps them.',
} as const;

const Settings = builder.objectRef<RetentionSettings>('RetentionSettings').implement({
  description: 'How long an organization keeps details, logs, artifacts and sandboxes of ended missions.',
  fields: (t) =>
    members(t, {
      runDays: intOrNull(meanings.runDays),
      logDays: intOrNull(meanings.logDays),
      artifactDays: intOrNull(meanings.artifactDays),
      sandboxDays: intOrNull(meanings.sandboxDays),
    }),
});

builder.queryField('retentionSettings', (t) =>
  t.field({
    description: 'How long the organization keeps details, logs, artifacts and sandboxes of ended missions.',
    scope: 'organizations:read',
    type: Settings,
    resolve: (_, _args, { caller }) => findRetentionSettings(caller),
  }),
);

builder.mutationField('setRetentionSettings', (t) => {
  const daysOf = (kind: keyof RetentionSettings) => {
    const { min, max } = retentionBounds[kind];
    return t.arg.int({
      validate: { schema: z.int().min(min).max(max) },
      description: `${meanings[kind]} From ${min} to ${max.toLocaleString('en-GB')}.`,
    });
  };
  return t.field({
    description:
      'Sets how long the organization keeps details, logs, artifacts and sandboxes of ended missions. Older ones are deleted within the hour; ' +
      'an argument that is left out is null. Only an owner may do this.',
    scope: 'organizations:write',
    type: Settings,
    args: {
      runDays: daysOf('runDays'),
      logDays: daysOf('logDays'),
      artifactDays: daysOf('artifactDays'),
      sandboxDays: daysOf('sandboxDays'),
    },
    resolve: (_, { runDays = null, logDays = null, artifactDays = null, sandboxDays = null }, { caller }) =>
      setRetentionSettings(caller, { runDays, logDays, artifactDays, sandboxDays }),
  });
});
