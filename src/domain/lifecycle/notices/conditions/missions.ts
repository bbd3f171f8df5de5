// Notices about missions: recurring missions that keep failing, and missions that wait for a runtime or for a person to act.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { isoTime, minutes } from '#foundation/clock.ts';
import { RecurringMission } from '../../../work/recurring/model.ts';
import { findRunsAwaitingPerson, parkedNeed } from '../../../work/runs/needs.ts';
import { findFailureStreaks, findWaitingRuns } from '../../../work/runs/trouble.ts';
import { type Condition, inQuotes } from '../model.ts';

/** Time for which a run must wait for a runtime before it causes a notice. */
const longWaitMs = minutes(5);

export async function failingSchedules(caller: Caller): Promise<Condition[]> {
  const streaks = await findFailureStreaks(ownOrganization(caller));
  const ids = streaks.map(({ recurringId }) => recurringId);
  const missions = ids.length > 0 ? await RecurringMission.findByKeys('id', ids) : [];
  return streaks.flatMap(({ recurringId, completedId, at }): Condition[] => {
    const mission = missions.find(({ id, enabled }) => enabled && id === recurringId);
    if (!mission) return [];
    return [
      {
        id: `schedule_failing:${recurringId}:${completedId ?? 'never'}`,
        kind: 'action',
        title: `${inQuotes(mission.name)} keeps failing`,
        body: 'At least its last three missions have failed.',
        page: `/projects/${mission.projectId}`,
        createdAt: at,
      },
    ];
  });
}

export async function waitingRuns(caller: Caller): Promise<Condition[]> {
  const waiting = await findWaitingRuns(ownOrganization(caller), longWaitMs);
  if (!waiting) return [];
  const { count, since, reason } = waiting;
  const many = count === 1 ? 'A mission waits' : `${count}${count === 100 ? ' or more' : ''} missions wait`;
  return [
    {
      // There is one notice per day, for any number of waiting runs.
      id: `run_waiting:${isoTime(since).slice(0, 10)}`,
      kind: 'action',
      title: `${many} for a runtime`,
      body: reason ?? 'No runtime has claimed it for five minutes.',
      page: '/runs?status=dispatching',
      createdAt: since,
    },
  ];
}

const waitFor = { budget: 'waits for money', limit: 'has reached a limit' };

export const personsNeeded = async (caller: Caller): Promise<Condition[]> =>
  (await findRunsAwaitingPerson(ownOrganization(caller))).map(
    ({ id, missionTitle, awaitsApproval, parkedBy, parkedReason, question, tool, since }) => ({
      id: `person_needed:${id}:${awaitsApproval ? 'approval' : since}`,
      kind: 'action',
      title: `${inQuotes(missionTitle ?? id)} ${awaitsApproval ? 'waits for a person to approve the plan' : parkedBy ? waitFor[parkedNeed({ parkedBy })!] : tool ? 'needs a decision about a tool call' : 'asks a question'}`,
      body: awaitsApproval
        ? 'Work begins once the plan is approved.'
        : parkedReason || question || 'Its agent waits for an answer.',
      page: `/runs/${id}`,
      createdAt: since,
    }),
  );
