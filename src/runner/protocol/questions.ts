// Passes the questions of a mission's agents to people. The runner reports each question as a fragment of the mission, and receives the
// person's answer in the response to a heartbeat. While a question is open and no agent calls its model, the mission does not count as one
// of the runner's concurrent missions, and the time limit of the mission is paused. The same holds while the only model calls in progress
// are calls that wait for a higher limit.
import { randomUUID } from 'node:crypto';
import type { Fragment } from '../contract.ts';
import type { Message } from '../harness/conversation.ts';

export type Question = Pick<Fragment, 'choices' | 'action' | 'parameter'> & { body: string };
export type Answer = Pick<Message, 'text' | 'author' | 'approved'> & { questionId: string };

/** Maximum number of open questions. */
export const maxQuestions = 10;

/**
 * For this time after a model call, an agent counts as working even if a question is open, because the agent may use tools between two
 * calls.
 */
const defaultTailMs = 60_000;

/** Name of the tool in the fragment that reports the end of a question. */
const toolOf = ({ action }: Question): string => action ?? 'ask_person';

export type Questions = ReturnType<typeof openQuestions>;

/**
 * Opens the part of a mission that asks people questions. @param waiting Receives the id of the run while the mission waits for a person's
 * answer, so that it does not count as a concurrent mission.
 */
export function openQuestions(runId: string, waiting: Set<string>, tailMs = defaultTailMs) {
  const open = new Map<string, { question: Question; resolve(answer: Answer): void }>();
  /** Ids of messages that answered a question. The platform delivers such a message again until it has received the acknowledgement. */
  const taken = new Set<string>();
  let show: (fragment: Fragment) => void = () => {};
  const pauses = measurePauses(runId, waiting, tailMs, () => open.size > 0);

  return {
    begin(journal: { show(fragment: Fragment): void }): void {
      ({ show } = journal);
    },
    /** The question that has waited longest; null without one. */
    oldest: (): string | null =>
      open.values().next().value?.question.body ??
      (pauses.hasParked() ? 'A model call waits for a higher limit.' : null),
    waitedMs: pauses.waitedMs,
    modelCalled: pauses.modelCalled,
    modelCallParked: pauses.modelCallParked,
    /** Resolves with the answer; null when the agent no longer waits. @throws when too many questions wait */
    async ask(question: Question, left: AbortSignal): Promise<Answer | null> {
      if (open.size >= maxQuestions) throw new Error(`At most ${maxQuestions} questions can be open at the same time.`);
      const toolUseId = randomUUID();
      show({ kind: 'elicitation', ...question, toolUseId });
      const answer = await new Promise<Answer | null>((resolve) => {
        open.set(toolUseId, { question, resolve });
        pauses.update();
        if (left.aborted) resolve(null);
        left.addEventListener('abort', () => resolve(null), { once: true });
      });
      open.delete(toolUseId);
      pauses.update();
      const result = answer ? wordsOf(answer) : 'The agent no longer waits.';
      show({
        kind: 'action',
        action: toolOf(question),
        toolUseId,
        result,
        failed: !answer || answer.approved === false,
      });
      return answer;
    },
    /**
     * Passes a person's message to the open questions that the message answers. @returns null if the message is for the agent, and not for a
     * question; otherwise an object whose field `used` says whether the runner may acknowledge the message
     */
    take({ messageId, text, author, questionId, approved }: Message): { used: boolean } | null {
      if (taken.has(messageId)) return { used: approved !== true };
      // A message without a question id answers all open questions except those about tool calls.
      const asked = [...open].filter(([id, { question }]) =>
        questionId === null ? question.action === undefined : id === questionId,
      );
      // If no question is open, the message is a decision about a call that no longer waits, or a message for the agent.
      if (asked.length === 0) return approved === null ? null : { used: true };
      taken.add(messageId);
      for (const [id, { resolve }] of asked) resolve({ text, author, approved, questionId: id });
      // The platform consumes an approval when the call is made.
      return { used: approved !== true };
    },
  };
}

/** Pauses of a mission: periods in which its agents wait for people and call no model. */
function measurePauses(runId: string, waiting: Set<string>, tailMs: number, hasQuestions: () => boolean) {
  let [sum, since]: [number, number | null] = [0, null];
  /**
   * `calls`: model calls in progress, including those that a waiting agent made just now. `parked`: the calls among them that wait for a
   * higher limit.
   */
  let [calls, parked] = [0, 0];
  const waitedMs = () => sum + (since === null ? 0 : performance.now() - since);

  function update(): void {
    const isWaiting = calls === parked && (parked > 0 || hasQuestions());
    if (isWaiting) waiting.add(runId);
    else waiting.delete(runId);
    sum = waitedMs();
    since = isWaiting ? performance.now() : null;
  }
  function end(): void {
    calls--;
    update();
  }

  return {
    update,
    /** Total time that the mission has waited, in milliseconds. */
    waitedMs,
    hasParked: () => parked > 0,
    /** Called when a model call begins to wait for a higher limit. @returns a function to call at the end of the wait */
    modelCallParked(): () => void {
      parked++;
      update();
      return () => {
        parked--;
        update();
      };
    },
    /** Called when a model call begins. @returns a function to call at its end */
    modelCalled(): () => void {
      // A model call that begins while a question is open shows that the agent works despite the question. Therefore the agent counts as
      // working from the beginning of this call until `tailMs` after its end. The model call that led to the question began before the
      // question was open, so no time is added after its end.
      const tail = hasQuestions() ? tailMs : 0;
      calls++;
      update();
      return () => (tail > 0 ? void setTimeout(end, tail).unref() : end());
    },
  };
}

const wordsOf = ({ author, text, approved }: Answer): string => {
  if (approved === null) return `${author}: ${text}`;
  return `${approved ? 'Approved' : 'Denied'} by ${author}${text ? `: ${text}` : '.'}`;
};
