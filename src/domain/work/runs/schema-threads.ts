// GraphQL types for threads of a pull request at its source host.
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { boolean, epochMs, intOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { type HostThread, threadBounds } from '../../projects/vendors/source-host.ts';
import { pullRequestKeyOf } from './loader-keys.ts';
import { RunType } from './schema.ts';
import { diffSides, type PullRequestThread } from './thread-model.ts';
import { threadsOf } from './threads.ts';

export const DiffSide = wordSet(
  'DiffSide',
  diffSides,
  'The version of a file to which the lines of a comment belong.',
  {
    old: 'The version before the change.',
    new: 'The changed version.',
  },
);

const HostComment = builder.objectRef<HostThread['comments'][number]>('HostComment').implement({
  description: 'A comment at the source host.',
  fields: (t) =>
    members(t, {
      author: string('The login of the author at the host.'),
      body: string(`The text: its first ${threadBounds.body} characters.`, { complexity: weightOf(threadBounds.body) }),
      createdAt: epochMs('When it was written.'),
    }),
});

export const HostThreadType = builder.objectRef<PullRequestThread>('HostThread').implement({
  description:
    'A thread of comments on lines of the change at the source host, as it was when the pull request was last read.',
  fields: (t) =>
    members(t, {
      key: string('The host’s id of the thread.'),
      url: string('The URL of the web page that shows the first comment of the thread.'),
      path: string('The path of the file in the repository.'),
      side: typed(DiffSide.type, 'The version of the file to which the lines of the thread belong.'),
      startLine: intOrNull(
        'The number of the first line of the thread, counted from 1; null when the newest commit does not contain the lines of the thread.',
      ),
      line: intOrNull(
        'The number of the last line of the thread; null when the newest commit does not contain the lines of the thread.',
      ),
      isResolved: boolean('Whether the thread is resolved.'),
      resolvedBy: stringOrNull(
        'The login of the person who resolved the thread; null while the thread is not resolved, and when the host does not name the person.',
      ),
      commentId: stringOrNull(
        'The review comment of this service that began the thread; null for a thread that began at the host.',
      ),
      comments: typed([HostComment], `The comments, oldest first: at most ${threadBounds.comments}.`),
    }),
});

const loadThreads = toMany<PullRequestThread>(threadsOf, pullRequestKeyOf);

builder.objectField(RunType, 'hostThreads', (t) =>
  t.field({
    type: [HostThreadType],
    graphOnly: true,
    complexity: { field: 1, multiplier: 10 },
    description: `The threads on lines of the run’s pull request at the source host: at most ${threadBounds.threads}.`,
    resolve: (run, _, context) => (run.prNumber === null ? [] : loadThreads(context).load(pullRequestKeyOf(run))),
  }),
);
