// GraphQL types for runs whose details were deleted after the retention period of their organization.
import { builder } from '#graph/builder.ts';
import { int, members, safeInt, typedOrNull } from '#graph/members.ts';
import type { KeptFigures } from './kept-figures.ts';
import { RunType } from './schema.ts';

const KeptFiguresType = builder.objectRef<KeptFigures>('KeptFigures').implement({
  description:
    'Figures that remain of a run whose details were deleted after the retention period of its organization.',
  fields: (t) =>
    members(t, {
      retentionDays: int('Days from the end of the run after which its details were deleted.'),
      steps: int('Number of steps.'),
      messages: int('Number of messages and answers of people.'),
      inputTokens: safeInt('Input tokens of all steps, without those read from or written to a cache.'),
      cachedInputTokens: safeInt('Input tokens of all steps that were read from the vendor’s cache.'),
      cacheWriteTokens: safeInt('Input tokens of all steps that were written to the vendor’s cache.'),
      outputTokens: safeInt('Output tokens of all steps, including those of reasoning.'),
    }),
});

builder.objectFields(RunType, (t) =>
  members(t, {
    detailsDeletedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      graphOnly: true,
      description:
        'When the details of the run were deleted after the retention period of the organization: steps, messages, logs, sandboxes, artifacts and ' +
        'recordings, whose lists are empty since then; null while they are there.',
      resolve: ({ kept }) => kept?.deletedAt ?? null,
    }),
    kept: typedOrNull(KeptFiguresType, 'Figures of deleted details; null while the details are there.', {
      graphOnly: true,
    }),
  }),
);
