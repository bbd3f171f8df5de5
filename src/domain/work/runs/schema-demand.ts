// GraphQL query that counts the missions that runtimes could take, for an autoscaler.
import { builder } from '#graph/builder.ts';
import { int, members } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { templateCounts, templateText } from '../../projects/sandbox-templates/bounds.ts';
import { type RuntimeDemand, readRuntimeDemand } from './demand.ts';

const RuntimeDemandType = builder.objectRef<RuntimeDemand>('RuntimeDemand').implement({
  description: 'Missions that need a runtime, as numbers for an autoscaler.',
  fields: (t) =>
    members(t, {
      missions: int(
        'Number of missions that wait or run. Divide it by the number of missions that one runtime executes at once to get the number ' +
          'of runtimes that are needed.',
      ),
      waiting: int('Number of missions that wait for a runtime.'),
      running: int(
        'Number of missions that run on runtimes of the organization or, with a token for all organizations, on runtimes of the operator.',
      ),
      oldestWaitingSeconds: int('Seconds for which the oldest mission has waited; 0 when none waits.'),
    }),
});

const maxListed = templateCounts.labels * (templateText.label.max + 1);
const labelList = boundedText({ min: 1, max: maxListed }).regex(
  /^[a-z0-9._-]+(?:,[a-z0-9._-]+)*$/,
  'must be labels such as gpu,arm64',
);

builder.queryField('runtimeDemand', (t) =>
  t.field({
    description:
      'Missions that need a runtime, for an autoscaler: in the organization of the token or, with a token for all organizations, in all of them.',
    scope: 'runtime:report',
    rest: 'GET /runtimes/demand',
    type: RuntimeDemandType,
    args: {
      labels: t.arg.string({
        description:
          'Labels of the runtimes that are scaled, separated by commas: only missions that ask for some of these labels, and for no others, ' +
          'are counted. Without labels, only missions that ask for no label are counted.',
        validate: { schema: labelList },
      }),
    },
    resolve: (_, args, { caller }) => readRuntimeDemand(caller, args.labels?.split(',') ?? []),
  }),
);
