// Actions of people in threads at the source host.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { boundedText, range } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { HostThreadType } from '../../work/runs/schema-threads.ts';
import { reviewBounds } from './bounds.ts';
import { answerHostThread, resolveHostThread } from './host-threads.ts';

const place = {
  runId: { ...pathId, description: 'The run.' },
  key: {
    required: true,
    description: 'The host’s id of the thread, as `hostThreads` of the run returns it.',
    validate: { schema: boundedText(text.pathId) },
  },
} as const;

builder.mutationFields((t) => ({
  resolveHostThread: t.field({
    description:
      'Resolves a thread of the run’s pull request at the source host, or opens it again, and adds a note with your name. A review comment that began the thread is resolved together with it.',
    scope: 'missions:run',
    tool: { name: 'resolve_host_thread', idempotent: true, openWorld: true },
    type: HostThreadType,
    args: {
      runId: t.arg.string(place.runId),
      key: t.arg.string(place.key),
      isResolved: t.arg.boolean({ required: true, description: 'Whether the thread is resolved.' }),
    },
    resolve: (_, args, { caller }) => resolveHostThread(caller, args),
  }),
  answerHostThread: t.field({
    description:
      'Replies in a thread of the run’s pull request at the source host, in your name. The reply is for people: no agent gets it.',
    scope: 'missions:run',
    tool: { name: 'answer_host_thread', openWorld: true },
    type: HostThreadType,
    args: {
      runId: t.arg.string(place.runId),
      key: t.arg.string(place.key),
      body: t.arg.string({
        required: true,
        description: `The reply in Markdown, ${range(reviewBounds.comment)} characters.`,
        validate: { schema: boundedText(reviewBounds.comment) },
      }),
    },
    resolve: (_, args, { caller }) => answerHostThread(caller, args),
  }),
}));
