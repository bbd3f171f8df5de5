// News at the place where a mission was started: the thread of a chat, or the comment on an issue or pull request.
import { answerEvent } from '../../work/inbound/answer.ts';
import type { Run } from '../../work/runs/model.ts';
import { findNews } from '../../work/runs/news.ts';
import { personOf } from '../../work/runs/person.ts';
import { channelsOf } from './choices.ts';
import type { MissionNoticeKind } from './model.ts';

/** Whether the person of the mission wants this kind of news where the mission was started. */
export async function isWantedAtOrigin(run: Run, kind: MissionNoticeKind): Promise<boolean> {
  const userId = personOf(run);
  if (userId === null) return true;
  return (await channelsOf(userId)).find((one) => one.kind === kind)!.origin;
}

/** Whether the run's present state may be shown where the mission was started. A state about which nobody is notified may always be shown there. */
export async function showsStateAtOrigin(run: Run): Promise<boolean> {
  const news = await findNews(run.id);
  return news === null || isWantedAtOrigin(run, news.kind);
}

export const answerOrigin = (job: { runId: string }): Promise<void> => answerEvent(job, showsStateAtOrigin);
