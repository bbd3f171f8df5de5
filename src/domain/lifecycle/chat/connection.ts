// Calls to the chat vendor of an organization. If the vendor refuses a call, the connection stores the reason for display.
import { seconds } from '#foundation/clock.ts';
import { Problem } from '#foundation/problem.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { noteCheck } from '../../projects/integrations/operations.ts';
import type { Chat } from '../../projects/vendors/chat.ts';
import { connectTo, isFinal, type VendorConnection } from '../../projects/vendors/connection.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { noteProblem } from '../../work/chat-threads/connections.ts';
import { ChatConnection } from '../../work/chat-threads/model.ts';

/** Time limit that all calls of one job share. */
const timeoutMs = seconds(20);

export interface OpenChat {
  account: ChatConnection;
  connector: Integration;
  chat: Chat;
  connection: VendorConnection;
}

/**
 * Runs `work`, in which only calls to the vendor may fail. Returns null when the connection was deleted.
 * @throws the problems of the vendor; 503 while the vendor limits the rate
 */
export async function withChat<T>(integrationId: string, work: (open: OpenChat) => Promise<T>): Promise<T | null> {
  const account = await ChatConnection.find({ integrationId: integrationId as never });
  const connector = account && (await Integration.find({ id: account.integrationId }));
  const chat = connector && moduleOf(connector.vendor).chat;
  if (!chat) return null;
  try {
    const connection = await connectTo(connector, timeoutMs);
    const result = await work({ account, connector, chat, connection });
    if (account.problem !== null) await noteProblem(integrationId, null);
    return result;
  } catch (error) {
    if (error instanceof Problem) await noteFailure(connector, error);
    throw error;
  }
}

async function noteFailure({ id }: Integration, error: Problem): Promise<void> {
  const connector = isFinal(error) && (await Integration.find({ id }));
  if (!connector || connector.brokenSince === null) return;
  const failure = error.body.description;
  await noteProblem(id, failure);
  // Rejected credentials are also recorded on the connector.
  await noteCheck(connector, { failure, account: null });
}
