// Actions by which a person settles an item of the inbox: each has a button, and most have a key.
import {
  answerElicitation,
  approveInboundDelivery,
  approvePlan,
  dismissInboundDelivery,
  type InboxRowFragment,
  setRunBudget,
  setRunLimits,
} from '../generated/documents.ts';
import { ask } from '../kit/client.ts';
import { pageAt } from '../kit/page.ts';
import { dollars } from '../kit/words.tsx';
import { mayRerun, rerun } from '../missions/rerun.ts';

export type Item = InboxRowFragment;

export interface Act {
  /** The keyboard shortcut; null when the button has none. */
  key: string | null;
  label: string;
  isDanger?: true;
  /** The outcome of the action, as a sentence for people. */
  done: string;
  /** Performs the action. @param words The text in the field of the item, if it has one */
  act(words: string): Promise<unknown>;
}

/** The page that shows the most about the item, and the label of the link to the page. */
export function pageOf({ id, kind, runId, hookId }: Item): [address: string, label: string] {
  if (kind === 'review') return [pageAt(`/runs/${runId}/changes`), 'Review changes'];
  if (kind === 'attempts') return [pageAt(`/attempts/${id.slice('attempts-'.length)}`), 'Compare attempts'];
  if (kind === 'effects') return [pageAt(`/runs/${runId}/changes`), 'Review effects'];
  if (kind === 'event') return [pageAt(`/hooks/${hookId}`), 'Open hook'];
  if (kind === 'spending' && id.endsWith('cap')) return [pageAt('/settings'), 'Open settings'];
  if (kind === 'spending') return [pageAt('/billing'), 'Open billing'];
  return [pageAt(`/runs/${runId}`), 'Open mission'];
}

/** The label of the item's text field; null for an item without one. */
export function fieldOf({ kind, question }: Item): string | null {
  if (kind === 'decision') return 'Reason for the agent';
  return kind === 'answer' ? (question?.choices?.length ? 'Another answer' : 'Answer') : null;
}

const answering = ({ runId, question }: Item, text: string, approve?: boolean) => {
  const { sandboxId, seq } = question!;
  return ask(answerElicitation, { runId: runId!, sandboxId, seq, text, ...(approve !== undefined && { approve }) });
};

/** The typed answer to an item that needs one. */
export const sendAnswer = (item: Item): Act => ({
  key: null,
  label: 'Send answer',
  done: 'Answer sent.',
  act: (words) => answering(item, words),
});

/** Amounts in US dollars by which a person can raise a budget. The keyboard shortcut raises it by the first amount. */
const budgetSteps = [5, 10, 20];

function budgetActs({ runId, run }: Item): Act[] {
  const spent = Math.ceil(Math.max(run?.budgetUsd ?? 0, run?.missionCostUsd ?? 0));
  return budgetSteps.map((more, i) => ({
    key: i === 0 ? 'a' : null,
    label: i === 0 ? `Continue with ${dollars(more)} more` : `${dollars(more)} more`,
    done: `The budget is ${dollars(spent + more)}.`,
    act: () => ask(setRunBudget, { runId: runId!, budgetUsd: spent + more }),
  }));
}

const limits = {
  time: ['maxMinutes', 'minutes'],
  model_calls: ['maxModelCalls', 'model calls'],
  tokens: ['maxTokens', 'tokens'],
} as const;

/** Doubles the reached limit. A limit of the installation cannot be raised here. */
function limitActs({ runId, run }: Item): Act[] {
  const [name, unit] = limits[run?.parkedBy as keyof typeof limits] ?? [];
  const limit = name && run?.[name];
  if (!limit) return [];
  const raised = `${(limit * 2).toLocaleString('en-US')} ${unit}`;
  const act = () => ask(setRunLimits, { runId: runId!, [name]: limit * 2 });
  return [{ key: 'a', label: `Raise limit to ${raised}`, done: `The limit is ${raised}.`, act }];
}

function eventActs({ hookId, deliveryId }: Item): Act[] {
  const delivery = { hookId: hookId!, deliveryId: deliveryId! };
  return [
    { key: 'a', label: 'Start missions', done: 'Missions start.', act: () => ask(approveInboundDelivery, delivery) },
    {
      key: 'd',
      label: 'Dismiss',
      isDanger: true,
      done: 'Dismissed.',
      act: () => ask(dismissInboundDelivery, delivery),
    },
  ];
}

export function actsOf(item: Item): Act[] {
  const { kind, runId, run, question } = item;
  switch (kind) {
    case 'approval':
      return [
        { key: 'a', label: 'Approve plan', done: 'Plan approved.', act: () => ask(approvePlan, { runId: runId! }) },
      ];
    case 'answer':
      return (question?.choices ?? []).map((choice, i) => ({
        key: i < 9 ? String(i + 1) : null,
        label: choice,
        done: 'Answer sent.',
        act: () => answering(item, choice),
      }));
    case 'decision':
      return [
        { key: 'a', label: 'Approve call', done: 'Call approved.', act: (words) => answering(item, words, true) },
        {
          key: 'd',
          label: 'Deny call',
          isDanger: true,
          done: 'Call denied.',
          act: (words) => answering(item, words, false),
        },
      ];
    case 'budget':
      return budgetActs(item);
    case 'limit':
      return limitActs(item);
    case 'event':
      return eventActs(item);
    case 'failure':
      return run && mayRerun(run)
        ? [{ key: 'a', label: 'Start again', done: 'Started again.', act: () => rerun(runId!, `rerun ${item.id}`) }]
        : [];
    default:
      return [];
  }
}
