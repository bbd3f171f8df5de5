// Defines how all APIs show the connections of a run.
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, int, members, safeInt, string, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { programsPerConnection } from './bounds.ts';
import { Connection, connectionPhases, connectionVerdicts } from './model.ts';
import * as operations from './operations.ts';

export const ConnectionPhase = wordSet(
  'ConnectionPhase',
  connectionPhases,
  'Phase in which a run opened a connection.',
  {
    setup: 'The environment was being prepared.',
    agent: 'An agent or a script was working.',
  },
);
export const ConnectionVerdict = wordSet(
  'ConnectionVerdict',
  connectionVerdicts,
  'Result of an attempted connection.',
  {
    allowed: 'The connection was made.',
    blocked: 'The network policy does not name the host.',
    not_public: 'The name resolves to an address that is not public, which no policy allows.',
    unknown_host: 'The name could not be resolved.',
    failed: 'The host is allowed, but could not be reached.',
    untrusted:
      'A program rejected the certificate with which the runner adds secrets to requests: it ignores the variables that name the certificate authority.',
  },
);

const recentRuns = toOne(operations.countRunsBlocking, ({ host }) => host);

export const ConnectionType = builder.modelType(Connection, 'Connection').implement({
  description: 'Connections of a run to one host and port, in one phase and with one verdict.',
  fields: (t) =>
    members(t, {
      runId: string('The id of the run.'),
      templateId: string('The sandbox template of the first step that attempted the connection.'),
      host: string('The requested host; `*` stands for all hosts beyond the first 500.'),
      port: int('The port; 0 with the host `*`.'),
      phase: typed(ConnectionPhase.type, 'The phase of the connection.'),
      verdict: typed(ConnectionVerdict.type, 'Result: allowed, or why it was refused.'),
      count: safeInt('Number of attempts.'),
      recentRuns: t.int({
        nullable: true,
        graphOnly: true,
        description: `Number of runs of the last ${operations.recentDays} days in which the host was blocked; null if it was not blocked in this run.`,
        resolve: async ({ host, verdict }, _, context) =>
          verdict === 'blocked' ? ((await recentRuns(context).load(host))?.runs ?? 0) : null,
      }),
      sentBytes: safeInt('Bytes sent to the host.'),
      receivedBytes: safeInt('Bytes received from the host.'),
      programs: strings(
        `Names of the programs that requested the connections, as far as the runtime knows them; at most ${programsPerConnection}.`,
      ),
      createdAt: epochMs('When the connection was first reported.'),
      updatedAt: epochMs('When the connection was last reported.'),
    }),
});
const ConnectionList = builder.objectRef<{ data: Connection[] }>('ConnectionList').implement({
  description: 'The connections of a run.',
  fields: (t) =>
    members(t, {
      data: typed(
        [ConnectionType],
        'Connections: blocked ones first, then failed, then allowed ones; about 500 at most.',
      ),
    }),
});

builder.queryField('runConnections', (t) =>
  t.field({
    description: 'The hosts that a run tried to connect to, and the results.',
    scope: 'missions:read',
    rest: 'GET /runs/{runId}/connections',
    tool: 'list_connections',
    type: ConnectionList,
    args: { runId: t.arg.string({ ...pathId, description: 'The id of the run.' }) },
    resolve: async (_, { runId }, { caller }) => ({ data: await operations.listConnections(caller, runId) }),
  }),
);
