// Graph fields common to runs of both kinds. Further fields are in the schema of each type.
import type { Row } from '#foundation/postgres/base-model.ts';
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { Run, runKinds, runStatuses } from './model.ts';

export const RunKind = wordSet('RunKind', runKinds, 'Whether the schedule or a person started the run.', {
  scheduled: 'An occurrence of the schedule.',
  manual: 'A person or a program, with "run now".',
});
export const RunStatus = wordSet(
  'RunStatus',
  runStatuses,
  'The status of a run. Open: `dispatching` (waits for its issue or for a runtime) and `running`; the others are final.',
  {
    dispatching: 'Waits for its issue in the tracker, or for a runtime.',
    running: 'A runtime holds the run.',
    completed: 'The mission finished.',
    failed: 'The mission failed, or no runtime finished it.',
    skipped: 'An earlier run was still open.',
    canceled: 'A person or a program canceled it.',
  },
);

/** A graph type of runs: of both kinds, or of one. */
export const runType = (name: string) => builder.modelType(Run, name);

type FieldsOfRun = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Row<Run>>;

export const runFields = (t: FieldsOfRun) => ({
  projectId: t.exposeString('projectId', { description: 'The project in whose repository the run works.' }),
  scheduledFor: t.expose('scheduledFor', {
    type: 'EpochMs',
    description: 'When the run was due; the first occurrence when several missed ones became one run.',
  }),
  kind: t.expose('kind', { type: RunKind.type, description: 'Whether the schedule or a person started the run.' }),
  status: t.expose('status', { type: RunStatus.type, description: 'Status of the run; `reason` explains it.' }),
  issueId: t.exposeString('issueId', {
    nullable: true,
    description: 'The issue’s id in the project’s tracker; null until the tracker has created it.',
  }),
  issueUrl: t.exposeString('issueUrl', {
    nullable: true,
    description: 'The page of the issue; null until the tracker has created it.',
  }),
  reason: t.exposeString('reason', {
    nullable: true,
    description:
      'Why the run was skipped, was canceled or has failed; while it is dispatching, the reason for its wait.',
  }),
  lastError: t.exposeString('lastError', {
    nullable: true,
    description: 'The last error of the tracker or of a runtime; null when there was none.',
  }),
  createdAt: t.expose('createdAt', {
    type: 'EpochMs',
    description: 'When the run was due and its record was written.',
  }),
  updatedAt: t.expose('updatedAt', { type: 'EpochMs', description: 'When the run last changed.' }),
  missionProgress: t.exposeInt('missionProgress', {
    nullable: true,
    description:
      'Progress in percent, as the runtime reports it; null while no runtime works on it. Scripts report it; for agents it is 0 until the run is ' +
      'completed.',
  }),
  missionActivity: t.exposeString('missionActivity', {
    nullable: true,
    description: 'Current activity, as the runtime reports it.',
  }),
  missionCostUsd: t.exposeFloat('missionCostUsd', {
    description: 'Cost of the run in US dollars, the sum of all reported costs.',
  }),
  missionTitle: t.exposeString('missionTitle', {
    nullable: true,
    description:
      'The name of the scheduled task or automation when the run began; without one, the first line of the prompt.',
  }),
  project: t.belongsTo('project', {
    link: 'projects:read',
    description: 'The project in whose repository the run works.',
  }),
  issue: t.belongsTo('issue', {
    link: 'missions:read',
    description: 'The issue of the built-in tracker; null when another tracker has it.',
  }),
});
