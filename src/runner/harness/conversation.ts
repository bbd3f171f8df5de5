// Steering of an agent at work: each message once and in order, interruption, and resumption.
import type { HeartbeatMutation } from '../generated/operations.ts';
import type { Harness, Turn } from './port.ts';

type RunOrders = HeartbeatMutation['answer']['runs'][number];
export type Message = RunOrders['messages'][number];
export type Desired = RunOrders['desired'];

export interface Observer {
  /** Called when a prompt was sent to the agent. */
  prompted(text: string): void;
  /** Called when the agent has read the message. */
  acknowledged(messageId: string): void;
  /** Called when the agent was interrupted, and when it continues. */
  interrupted(isInterrupted: boolean): void;
}

export function openConversation(harness: Harness, { prompted, acknowledged, interrupted }: Observer) {
  const received = new Set<string>();
  /** The last turn that has ended; null while one runs. */
  let ended: Turn | null = null;
  let isInterrupted = false;
  const next = inOrder(harness.ready.catch(() => {}));
  let finish: (turn: Turn) => void;
  const over = new Promise<Turn>((resolve) => {
    finish = resolve;
  });

  async function send(text: string): Promise<void> {
    const how = await harness.send(text);
    if (how === 'begun') ended = null;
    prompted(text);
  }

  return {
    /** The last turn of the step. */
    over,
    /** Handles the end of a turn: it is the last one, unless the agent was interrupted, or a message has begun another turn. */
    turnEnded(turn: Turn): void {
      ended = turn;
      if (turn.status === 'interrupted' && isInterrupted) interrupted(true);
      else
        next(async () => {
          if (ended === turn) finish(turn);
        });
    },
    /** Handles the response to a heartbeat. Messages that the agent has not read are sent again. */
    steer(desired: Desired, messages: readonly Message[]): void {
      if (desired === 'stop') return;
      if (desired === 'interrupt') {
        if (isInterrupted || ended) return;
        isInterrupted = true;
        next(() => harness.interrupt());
        return;
      }
      const isNew = messages.filter(({ messageId }) => !received.has(messageId));
      // An interrupted agent is resumed only after its turn has ended.
      if (isInterrupted && !ended) return;
      const isResumed = isInterrupted;
      isInterrupted = false;
      if (!isResumed && ended) return;
      if (isResumed) interrupted(false);
      if (isResumed && isNew.length === 0) next(() => send('Continue where you were interrupted.'));
      for (const { messageId, text, author } of isNew) {
        received.add(messageId);
        next(() =>
          send(`Message from ${author}:\n\n${text}`).then(
            () => acknowledged(messageId),
            () => void received.delete(messageId),
          ),
        );
      }
    },
  };
}

/** Runs one task after the other, so that messages stay in order. */
function inOrder(first: Promise<void>): (work: () => Promise<void>) => void {
  let chain = first;
  return (work) => {
    chain = chain.then(work).catch(() => {});
  };
}
