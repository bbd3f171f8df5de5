// Defines how all APIs show the calls that a run has made.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { int, members, string, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { pages } from '#limits.ts';
import { callKinds, RunCall } from './model.ts';
import * as operations from './operations.ts';

const RunCallKind = wordSet('RunCallKind', callKinds, 'Kind of a call.', {
  model: 'A call to a model.',
  tool: 'A call of a tool of an MCP server.',
  network: 'Connections to hosts since the last report.',
});

const RunCallType = builder.modelType(RunCall, 'RunCall').implement({
  description:
    'A call that passed through the gateway of a run. It is a leaf of the Merkle tree in the attestations of the run.',
  fields: (t) =>
    members(t, {
      number: int('Position, from 1: the leaf has the index `number - 1`.'),
      kind: typed(RunCallKind.type, 'Kind of the call.'),
      entry: string(
        'The call as canonical JSON (RFC 8785), whose bytes are the leaf. It contains the request and the response as SHA-256 digests.',
      ),
    }),
});

builder.queryField('runCalls', (t) =>
  t.field({
    description:
      'The calls of a run to models, tools and hosts: the leaves of the Merkle tree in the attestations of its commits.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}/calls',
    type: pageOf('RunCallPage', RunCallType, 'Oldest first.'),
    args: {
      runId: t.arg.string({ ...pathId, description: 'The id of the run.' }),
      ...pageArguments(pages.other),
    },
    resolve: (_, args, { caller }) => operations.listCalls(caller, args),
  }),
);
