// Starting the mission of a run again.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { RunType } from '../runs/schema.ts';
import * as operations from './operations.ts';

builder.mutationField('rerunMission', (t) =>
  t.field({
    description:
      'Starts the mission of a run again from its beginning. If a scheduled task or automation has started the run, this task or automation ' +
      'runs once more. Otherwise, a mission with the same prompt, agent and limits starts. While the new run is open, a repeated request ' +
      'returns the new run.',
    scope: 'missions:run',
    rest: { route: 'POST /runs/{runId}/rerun', status: 201, errors: [402, 409] },
    tool: { name: 'rerun_mission', openWorld: true, startsRun: true },
    type: RunType,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: (_, { runId }, { caller }) => operations.rerunMission(caller, runId),
  }),
);
