// The runtimes of an organization in the graph, and what those of an operator should offer.
import { builder } from '#graph/builder.ts';
import {
  boolean,
  epochMs,
  intOrNull,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { type HarnessDemand, readHarnessDemand } from './harness-demand.ts';
import { listRuntimes, type Runtime } from './runtime-harnesses.ts';
import { Harness, ModelVendor } from './schema-catalog.ts';

const RuntimeHarness = builder.objectRef<Runtime['harnesses'][number]>('RuntimeHarness').implement({
  description: 'A harness that a runtime can execute.',
  fields: (t) =>
    members(t, {
      harness: typed(Harness.type, 'The program that drives a model.'),
      version: stringOrNull('The version that the runtime reported; null when it reported none.'),
    }),
});
const RuntimeType = builder.objectRef<Runtime>('Runtime').implement({
  description: 'A program that takes runs and has agents work on them.',
  fields: (t) =>
    members(t, {
      name: string('The name that the runtime has chosen for itself.'),
      tokenId: stringOrNull(
        'The runtime token with which the runtime authenticates; null for a runtime of the operator, which serves all organizations.',
      ),
      harnesses: typed([RuntimeHarness], 'The harnesses that the runtime can execute.'),
      isolation: stringOrNull(
        'How missions are isolated from each other, such as `cell`, `container` or `none`; null when not reported.',
      ),
      labels: strings('Labels that sandbox templates can ask for.'),
      places: intOrNull('Maximum number of concurrent missions; null when not reported.'),
      modelVendors: typedOrNull(
        [ModelVendor.type],
        'Vendors for whose models the runtime has its own credentials, in addition to connected vendors of the organization; null when ' +
          'not reported.',
      ),
      notice: stringOrNull(
        'Reason why a harness is not offered yet, for example because it is being installed; null when not reported.',
      ),
      lastSeenAt: epochMs('Time of the last claim or heartbeat, to the half minute.'),
      isConnected: boolean('Whether the last claim or heartbeat was within two minutes.'),
    }),
});
const Runtimes = builder.objectRef<{ data: Runtime[] }>('Runtimes').implement({
  description: 'The runtimes that work for an organization.',
  fields: (t) =>
    members(t, {
      data: typed([RuntimeType], 'The runtimes, the most recently seen first: at most 100.'),
    }),
});

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

builder.queryField('runtimes', (t) =>
  t.field({
    description:
      'The runtimes that work for the organization and were seen within a day, at most 100, the latest first. A run waits for ' +
      'a connected runtime with the harness of its agent.',
    scope: 'agents:read',
    tool: 'list_runtimes',
    type: Runtimes,
    resolve: async (_, _args, { caller }) => ({ data: await listRuntimes(caller) }),
  }),
);

builder.queryField('harnessDemand', (t) =>
  t.field({
    description: 'The harnesses that missions need, for a runtime that installs what its machine lacks.',
    scope: 'runtime:report',
    type: HarnessDemandType,
    resolve: (_, _args, { caller }) => readHarnessDemand(caller),
  }),
);
