// GraphQL fields common to runs of both kinds, and the argument for the budget of a mission. Further fields are in the schema of each type.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { belongsTo, epochMs, float, intOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { mission } from './bounds.ts';
import { attemptStates, Run, runKinds, runStatuses } from './model.ts';

export const RunKind = wordSet(
  'RunKind',
  runKinds,
  'The origin of the run: the schedule of its mission, or a person, a program or an event.',
  {
    scheduled: 'The schedule of the mission started the run.',
    manual: 'A person, a program or an event started the run.',
  },
);
export const RunStatus = wordSet(
  'RunStatus',
  runStatuses,
  'The status of a run. Open: `dispatching` (waits for its issue or for a runtime) and `running`; all other statuses are final.',
  {
    dispatching: 'Waits for its issue in the tracker, or for a runtime.',
    running: 'A runtime works on the run.',
    completed: 'The mission finished.',
    failed: 'The mission failed, or no runtime finished it.',
    skipped: 'An earlier run was still open.',
    canceled: 'A person or a program canceled it.',
  },
);

export const AttemptState = wordSet('AttemptState', attemptStates, 'The decision about an attempt.', {
  open: 'Nobody has chosen yet.',
  chosen: 'The attempt was chosen.',
  closed: 'Another attempt was chosen, or all attempts were closed: the branch of this attempt is deleted.',
});

/** The argument for the budget of a new mission. */
export const missionBudget = {
  description:
    'Budget of the mission in US dollars, 0.01 to 10,000. If the next model call or minute would exceed the budget, the mission ' +
    'waits until a person raises the budget. Absent means that only the plan and the credits of the organization limit the ' +
    'mission.',
  validate: { schema: z.number().min(mission.budgetUsd.min).max(mission.budgetUsd.max) },
};

/** A GraphQL type for runs of both kinds, or of one kind. */
export const runType = (name: string) => builder.modelType(Run, name);

type FieldsOfRun = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Run>;

export const runFields = (t: FieldsOfRun) =>
  members(t, {
    projectId: string('The project in whose repository the run works.'),
    scheduledFor: epochMs(
      'When the run was due; for several missed occurrences that became one run, the time of the first.',
    ),
    kind: typed(
      RunKind.type,
      'The origin of the run: the schedule of its mission, or a person, a program or an event.',
    ),
    status: typed(RunStatus.type, 'Status of the run; `reason` explains it.'),
    issueId: stringOrNull('The issue’s id in the project’s tracker; null until the tracker has created it.'),
    issueUrl: stringOrNull('The page of the issue; null until the tracker has created it.'),
    reason: stringOrNull(
      'Reason why the run was skipped, was canceled or has failed; while it is dispatching, the reason for its wait.',
    ),
    lastError: stringOrNull('The last error of the tracker or of a runtime; null when there was none.'),
    createdAt: epochMs('When the record of the run was written.'),
    updatedAt: epochMs('When the run last changed.'),
    missionProgress: intOrNull(
      'Progress in percent, as the runtime reports it; null while no runtime works on it. Scripts report it; for agents it is 0 until the run is ' +
        'completed.',
    ),
    missionActivity: stringOrNull('Current activity, as the runtime reports it.'),
    missionCostUsd: float('Cost of the run in US dollars, the sum of all reported costs.'),
    missionTitle: stringOrNull(
      'The name of the scheduled task or automation when the run began; without one, the first line of the prompt.',
    ),
    project: belongsTo('projects:read', 'The project in whose repository the run works.'),
    issue: belongsTo('missions:read', 'The issue of the built-in tracker; null when another tracker has it.'),
  });
