// GraphQL query for the harnesses that missions need.
import { builder } from '#graph/builder.ts';
import { members, typed } from '#graph/members.ts';
import { type HarnessDemand, readHarnessDemand } from './harness-demand.ts';
import { Harness, ModelVendor } from './schema-catalog.ts';

const HarnessDemandType = builder.objectRef<HarnessDemand>('HarnessDemand').implement({
  description: 'Models and harnesses needed by the organizations that a runtime works for.',
  fields: (t) =>
    members(t, {
      modelVendors: typed([ModelVendor.type], 'The vendors of models that an organization has connected.'),
      harnesses: typed(
        [Harness.type],
        'The harnesses of the organizations’ own agents; built-in agents use any harness with a connected model.',
      ),
    }),
});

builder.queryField('harnessDemand', (t) =>
  t.field({
    description: 'The harnesses that missions need, for a runtime that installs what its machine lacks.',
    scope: 'runtime:report',
    type: HarnessDemandType,
    resolve: (_, _args, { caller }) => readHarnessDemand(caller),
  }),
);
