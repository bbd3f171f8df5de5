// GraphQL types for the runtimes of an organization with their capacity and queues, and for the missions that wait for a runtime.
import { builder } from '#graph/builder.ts';
import {
  boolean,
  epochMs,
  epochMsOrNull,
  int,
  intOrNull,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { Harness, ModelVendor } from '../../projects/agents/schema-catalog.ts';
import {
  type LoadedRuntime,
  maxQueued,
  maxWaitGroups,
  type RuntimesAnswer,
  readRuntimes,
  type WaitingRunsGroup,
} from './queues.ts';

const RuntimeHarness = builder.objectRef<LoadedRuntime['harnesses'][number]>('RuntimeHarness').implement({
  description: 'A harness that a runtime can execute.',
  fields: (t) =>
    members(t, {
      harness: typed(Harness.type, 'The program that drives a model.'),
      version: stringOrNull('The version that the runtime reported; null when it reported none.'),
    }),
});
const RuntimeType = builder.objectRef<LoadedRuntime>('Runtime').implement({
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
      usedPlaces: int('Number of missions of the organization that the runtime executes.'),
      freePlaces: intOrNull(
        'Number of further missions that the runtime could execute now. Null when the runtime has not reported how many missions it can execute at once, and for a runtime that serves all organizations.',
      ),
      waitingRuns: int(
        `Number of missions of the organization that wait and that the runtime could take, at most ${maxQueued}; 0 when the runtime takes no new missions or is not connected.`,
      ),
      oldestWaitingAt: epochMsOrNull(
        'When the mission that has waited longest began to wait; null when no mission waits. Missions that the runtime could not take do not count.',
      ),
      modelVendors: typedOrNull(
        [ModelVendor.type],
        'Vendors whose models the runtime can use with its own credentials. It can also use vendors that the organization has connected. ' +
          'Null when the runtime reports no vendors.',
      ),
      notice: stringOrNull(
        'Reason why a harness is not offered yet, for example because it is being installed; null when not reported.',
      ),
      lastSeenAt: epochMs('Time of the last claim or heartbeat, to the half minute.'),
      isDraining: boolean('Whether the runtime was told to take no new missions.'),
      isConnected: boolean('Whether the last claim or heartbeat was within two minutes.'),
    }),
});
const WaitingRuns = builder.objectRef<WaitingRunsGroup>('WaitingRuns').implement({
  description: 'Missions that wait for a runtime for the same reason.',
  fields: (t) =>
    members(t, {
      reason: stringOrNull('Why the missions wait; null for about two seconds, until the reason is known.'),
      labels: strings('Labels that a runtime must have to take the missions.'),
      runs: int('Number of missions.'),
      oldestWaitingAt: epochMs('When the oldest of the missions began to wait.'),
      oldestRunId: string('The run that waits longest.'),
    }),
});
const Runtimes = builder.objectRef<RuntimesAnswer>('Runtimes').implement({
  description: 'The runtimes that work for an organization, and the missions that wait for one.',
  fields: (t) =>
    members(t, {
      data: typed([RuntimeType], 'The runtimes, the most recently seen first: at most 100.'),
      waiting: typed(
        [WaitingRuns],
        `Missions that wait for a runtime, grouped by reason and labels, the largest group first. Only the ${maxWaitGroups} largest groups of the ${maxQueued} oldest missions are listed.`,
        { complexity: { field: 1, multiplier: maxWaitGroups } },
      ),
    }),
});

builder.queryField('runtimes', (t) =>
  t.field({
    description:
      'The runtimes that work for the organization and were seen within the last day: at most 100, the most recently seen first. A run waits for ' +
      'a connected runtime with the harness of its agent.',
    scope: 'agents:read',
    tool: 'list_runtimes',
    type: Runtimes,
    resolve: (_, _args, { caller }) => readRuntimes(caller),
  }),
);
