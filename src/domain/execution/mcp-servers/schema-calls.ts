// Calls of MCP tools in GraphQL.
import { builder } from '#graph/builder.ts';
import { epochMs, int, members, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { callOutcomes, McpCall } from './model.ts';
import type { RecentCalls } from './review.ts';

export const CallOutcome = wordSet('McpCallOutcome', callOutcomes, 'Outcome of a tool call.', {
  ok: 'The tool returned a result.',
  tool_error: 'The tool returned an error.',
  refused: 'The gateway did not forward the call.',
  failed: 'The server could not be reached or returned an invalid response.',
});

const CallType = builder.modelType(McpCall, 'McpCall').implement({
  description: 'One call of a tool of an MCP server, by a run.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `mcc_`.'),
      runId: string('The run that made the call.'),
      serverName: string('The server that was called.'),
      tool: string('The server’s name for the tool that was called.'),
      outcome: typed(CallOutcome.type, 'Outcome of the call.'),
      durationMs: int('Duration of the call in milliseconds.'),
      createdAt: epochMs('When the call began.'),
    }),
});

const CallCount = builder.objectRef<RecentCalls['counts'][number]>('McpCallCount').implement({
  description: 'Number of calls of a server with one outcome.',
  fields: (t) =>
    members(t, {
      serverName: string('The server that was called.'),
      outcome: typed(CallOutcome.type, 'Outcome of the calls.'),
      count: int('Number of calls, at least 1.'),
    }),
});

export const CallsOfDay = builder.objectRef<RecentCalls>('McpCallsOfDay').implement({
  description: 'Calls of the MCP servers of a project in the last 24 hours.',
  fields: (t) =>
    members(t, {
      calls: typed([CallType], 'The newest 50 calls, newest first.'),
      counts: typed([CallCount], 'All calls, by server and outcome.'),
    }),
});
