// Actions of a person in threads: threads that began on the platform, and threads at the source host.
import { useMemo } from 'preact/hooks';
import { answerHostThread, resolveHostThread, resolveReviewComment } from '../generated/documents.ts';
import { ask, mutate, type ProblemBody, problemOf } from '../kit/client.ts';
import type { ThreadActions } from './threads.ts';

export function useThreadActions(
  runId: string,
  read: () => void,
  setProblem: (problem: ProblemBody | null) => void,
): ThreadActions {
  return useMemo(
    () => ({
      async resolve({ isOfHost, comment: { id } }, isResolved) {
        try {
          if (isOfHost) await mutate(resolveHostThread, { runId, key: id, isResolved }, crypto.randomUUID());
          else await ask(resolveReviewComment, { commentId: id, isResolved });
          setProblem(null);
        } catch (error) {
          setProblem(problemOf(error));
        }
        read();
      },
      async answer({ key }, body, idempotencyKey) {
        await mutate(answerHostThread, { runId, key: key!, body }, idempotencyKey);
        read();
      },
    }),
    [runId, read],
  );
}
