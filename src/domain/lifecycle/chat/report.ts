// Reports a mission in its thread: one message always shows its current state, and further messages report single facts. A message is
// stored before it is posted. After a crash, the thread is searched for the message, which is posted only if it is missing.
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { Problem } from '#foundation/problem.ts';
import type { ChatMessage } from '../../projects/vendors/chat.ts';
import { isFinal } from '../../projects/vendors/connection.ts';
import { noteProblem } from '../../work/chat-threads/connections.ts';
import { ChatPost, ChatThread } from '../../work/chat-threads/model.ts';
import {
  beginThread,
  claimThread,
  freeThread,
  recordPost,
  reportLater,
  writePost,
} from '../../work/chat-threads/threads.ts';
import { newestRunInThread } from '../../work/runs/chat-runs.ts';
import type { Run } from '../../work/runs/model.ts';
import { findWait } from '../../work/runs/news.ts';
import { isOpen } from '../../work/runs/states.ts';
import { isWantedAtOrigin, showsStateAtOrigin } from '../mission-notices/origin.ts';
import { type OpenChat, withChat } from './connection.ts';
import { endMessage, settledMessage, stateMessage, waitMessage } from './words.ts';

/**
 * A process reserves a chat thread for this time while it posts a report; other processes have to wait. The time is longer than the calls for
 * one report can take.
 */
const claimMs = minutes(1);
/** If another process is reporting to the thread, the report is repeated after this time. */
const againMs = seconds(2);
/** Delay before a refused report is retried, and the age of a thread after which reports are no longer retried. */
const refusals = { delayMs: minutes(10), mostMs: days(14) } as const;
const head = 'state';

/**
 * Calls `work`, which reports to the thread. Only one process at a time does this for a thread. After a temporary error, the report is
 * repeated.
 * @throws an error if another attempt may succeed
 */
export async function reportAlone(id: ChatThread['id'], work: (thread: ChatThread) => Promise<unknown>): Promise<void> {
  if (!(await claimThread(id, claimMs))) return reportLater(id, now() + againMs);
  const thread = await ChatThread.find({ id });
  if (!thread) return;
  try {
    await work(thread);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { retryAfterSeconds } = error.details;
    if (retryAfterSeconds !== undefined) await reportLater(id, now() + seconds(retryAfterSeconds));
    else if (isFinal(error)) await waitForPerson(thread, error.body.description);
    else throw error;
  } finally {
    await freeThread(id);
  }
}

/** Posts and updates the messages in a chat thread that report on the newest mission of the thread. @throws the errors of the vendor */
export async function reportInChat(thread: ChatThread): Promise<void> {
  const run = await newestRunInThread(thread.id);
  if (run) await withChat(thread.integrationId, (open) => report(open, thread, run));
}

/** Stores on the connection what a person has to correct, and schedules the next attempt. */
async function waitForPerson({ id, integrationId, createdAt }: ChatThread, problem: string): Promise<void> {
  await noteProblem(integrationId, problem);
  const at = now();
  if (createdAt > at - refusals.mostMs) await reportLater(id, at + refusals.delayMs);
}

async function report(open: OpenChat, thread: ChatThread, run: Run): Promise<void> {
  const place = { ...thread };
  const show = (cause: string, message: ChatMessage) => showPost(open, place, cause, message);
  const first = await show(head, await stateMessage(run));
  if (place.threadId === null) {
    place.threadId = first;
    await beginThread(thread.id, first);
  }
  const wait = isOpen(run) ? await findWait(run.id) : null;
  const news = wait ? await waitMessage(run, wait) : null;
  const present = wait && `${run.id} ${wait.cause}`;
  if (present && news && (await isWantedAtOrigin(run, wait.kind))) await show(present, news);
  if (!isOpen(run) && (await showsStateAtOrigin(run))) await show(`${run.id} end`, await endMessage(run));
  for (const { cause, message: shown } of await ChatPost.findAll({ threadId: thread.id })) {
    const message = shown as ChatMessage;
    if (message.buttons.length === 0 || cause === present || !cause.startsWith(run.id)) continue;
    await show(cause, await settledMessage(run, cause.slice(run.id.length + 1), message));
  }
}

/** Posts the message about a cause, or changes it if it was posted before. Returns its id. */
async function showPost(
  { chat, connection }: OpenChat,
  { id: threadId, channelId: channel, threadId: thread }: ChatThread,
  cause: string,
  message: ChatMessage,
): Promise<string> {
  const post = { threadId, cause, message };
  const before = await ChatPost.find({ threadId, cause });
  if (before?.messageId) {
    if (JSON.stringify(ordered(before.message as ChatMessage)) === JSON.stringify(ordered(message)))
      return before.messageId;
    await chat.update(connection, channel, before.messageId, message);
    await recordPost(post, before.messageId);
    return before.messageId;
  }
  const place = { channel, thread };
  const key = `${threadId} ${cause}`;
  if (!before) await writePost(post);
  const found = before ? await chat.findPosted(connection, place, key, before.createdAt) : null;
  const messageId = found ?? (await chat.post(connection, place, message, key));
  await recordPost(post, messageId);
  return messageId;
}

/** The message as text for comparison. Its members are in a fixed order, because the database changes their order. */
const ordered = ({ title, detail, link, buttons }: ChatMessage) => [
  title,
  detail,
  link?.url,
  buttons.map(({ label, value }) => [label, value]),
];
