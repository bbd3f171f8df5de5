// Forwards events of a harness to the platform: into the journal, the state of the heartbeat, and the result of the step.
import type { Claimed, Fragment, Step } from './contract.ts';
import { type Message, openConversation } from './harness/conversation.ts';
import type { Harness, HarnessEvent, Turn } from './harness/port.ts';
import type { State } from './protocol/heartbeat.ts';
import type { Journal } from './protocol/journal.ts';
import { askTool } from './protocol/people-server.ts';
import type { Preview } from './protocol/preview.ts';
import type { Questions } from './protocol/questions.ts';
import type { StepContext } from './step-context.ts';
import { trackProgress } from './step-progress.ts';
import { clip } from './text.ts';

type Steered = Pick<StepContext, 'models' | 'questions' | 'replay'>;

export function openEvents(
  journal: Journal,
  { missionTitle }: Pick<Claimed, 'missionTitle'>,
  { agent }: Pick<Step, 'agent'>,
  remember: (session: string) => void,
  openPreview: (folder: string) => Promise<Preview>,
) {
  const title = missionTitle ?? 'Working';
  const state = stateAtStart(title);
  const result = { output: null as string | null, sessionId: null as string | null, turns: 0 };
  const preview = openPreviewOnce(journal, state, openPreview);
  let turnEnded: (turn: Turn) => void = () => {};

  const show = fragmentsInto(journal, state, agent.harness === 'shell');

  async function take(event: HarnessEvent): Promise<void> {
    if ('turn' in event) return turnEnded(event.turn);
    if ('log' in event) journal.log(event.log);
    else if ('fragment' in event) show(event.fragment);
    else if ('cost' in event) journal.cost(event.cost);
    else if ('usage' in event) {
      result.turns++;
      journal.usage(event.usage);
    } else if ('session' in event) {
      result.sessionId = event.session;
      remember(event.session);
    } else if ('preview' in event) preview.open(event.preview);
    else {
      const { progress, activity = state.activity } = event;
      Object.assign(state, { progress, activity, changed: true });
    }
    await journal.room();
  }

  /**
   * Connects a harness to the heartbeats of its mission. Messages to the agent and requests to interrupt it are passed from the responses
   * of heartbeats to the harness. Answers of people are passed to `questions`, and changes of model connectors to `models`.
   */
  function steerWith(harness: Harness, { models, questions, replay }: Steered) {
    const talk = openConversation(harness, {
      prompted: (text) => journal.show({ kind: 'prompt', body: clip(text, 16_000) }),
      acknowledged: (messageId) => acknowledge(state, messageId),
      interrupted: (isInterrupted) =>
        Object.assign(state, { activity: isInterrupted ? 'Interrupted' : title, changed: true }),
    });
    turnEnded = talk.turnEnded;
    // A replay gets no messages, because they would change it: they wait until it has ended.
    if (!replay) state.steer = (desired, messages) => talk.steer(desired, withoutAnswers(messages, questions, state));
    if (models) state.updateModels = models.update;
    return talk;
  }

  return {
    state,
    result,
    take,
    steerWith,
    closePreview: preview.close,
  };
}

function acknowledge(state: State, messageId: string): void {
  if (state.acknowledged.includes(messageId)) return;
  state.acknowledged.push(messageId);
  state.changed = true;
}

/** Hands answers to the questions that wait, and returns the messages for the agent. */
const withoutAnswers = (messages: readonly Message[], questions: Questions | null, state: State): Message[] =>
  messages.filter((message) => {
    const answer = questions?.take(message);
    if (answer?.used) acknowledge(state, message.messageId);
    return !answer;
  });

/**
 * Forwards fragments, except the agent's tool call that asks a question, which the runner reports itself. A script reports its own
 * progress.
 */
function fragmentsInto(journal: Journal, state: State, isScript: boolean): (fragment: Fragment) => void {
  const follow = isScript ? () => {} : trackProgress(state);
  return (fragment) => {
    if (isQuestion(fragment)) return;
    journal.show(fragment);
    follow(fragment);
  };
}

/** Harnesses prefix the name of a tool with its server. */
const isQuestion = ({ kind, action }: Fragment): boolean =>
  kind === 'action' && new RegExp(`[._]${askTool}$`).test(action ?? '');

const stateAtStart = (activity: string): State => ({
  progress: null,
  activity,
  changed: true,
  preview: null,
  acknowledged: [],
  steer: () => {},
  openTerminals: () => {},
  updateModels: () => {},
});

/** The preview of a step, which shows the first folder that the step names. A failed preview does not fail the mission. */
function openPreviewOnce(journal: Journal, state: State, openPreview: (folder: string) => Promise<Preview>) {
  let opening: Promise<Preview | null> | undefined;
  async function open(folder: string): Promise<Preview | null> {
    try {
      state.preview = await openPreview(folder);
      journal.show({ kind: 'action', action: 'preview', parameter: state.preview.address });
      return state.preview;
    } catch (error) {
      journal.show({ kind: 'error', body: clip(`no preview: ${(error as Error).message}`, 2_000) });
      return null;
    }
  }
  return {
    open(folder: string): void {
      opening ??= open(folder);
    },
    async close(): Promise<void> {
      await (await opening)?.close();
    },
  };
}
