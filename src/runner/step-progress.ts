// Progress and activity of an agent, from its plan and its tool calls.
import type { Fragment } from './contract.ts';
import { limits } from './harness/fragments.ts';
import type { State } from './protocol/heartbeat.ts';
import { clip } from './text.ts';

/** Maximum percentage for a finished plan, because the mission ends later than the last item. */
const maxPercentOfPlan = 99;

/** Follows the progress of an agent. @returns a function that updates the state from the agent's fragments */
export function trackProgress(state: Pick<State, 'progress' | 'activity' | 'changed'>): (fragment: Fragment) => void {
  /** Item of the plan that is in progress. */
  let item: string | undefined;
  return ({ kind, items = [], action, parameter = '', result }) => {
    if (kind === 'plan' && items.length > 0) {
      const done = items.filter(({ status }) => status === 'completed').length;
      const share = Math.min(maxPercentOfPlan, Math.floor((100 * done) / items.length));
      state.progress = Math.max(state.progress ?? 0, share);
      item = items.find(({ status }) => status === 'in_progress')?.content;
      if (item) state.activity = item;
    } else if (kind === 'action' && action && result === undefined) {
      if (!item) state.activity = clip([action, parameter.split('\n', 1)[0]].join(' ').trim(), limits.activity);
    } else return;
    state.changed = true;
  };
}
