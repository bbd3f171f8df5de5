// Calls of tools of MCP servers in the graph.
import { builder } from '#graph/builder.ts';
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
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id, which starts with `mcc_`.' }),
    runId: t.exposeString('runId', { description: 'The run that made the call.' }),
    serverName: t.exposeString('serverName', { description: 'The server that was called.' }),
    tool: t.exposeString('tool', { description: 'The server’s name for the tool that was called.' }),
    outcome: t.expose('outcome', { type: CallOutcome.type, description: 'Outcome of the call.' }),
    durationMs: t.exposeInt('durationMs', { description: 'Duration of the call in milliseconds.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When the call began.' }),
  }),
});

const CallCount = builder.objectRef<RecentCalls['counts'][number]>('McpCallCount').implement({
  description: 'Number of calls of a server with one outcome.',
  fields: (t) => ({
    serverName: t.exposeString('serverName', { description: 'The server that was called.' }),
    outcome: t.expose('outcome', { type: CallOutcome.type, description: 'Outcome of the calls.' }),
    count: t.exposeInt('count', { description: 'Number of calls, at least 1.' }),
  }),
});

export const CallsOfDay = builder.objectRef<RecentCalls>('McpCallsOfDay').implement({
  description: 'Calls of the MCP servers of a project in the last 24 hours.',
  fields: (t) => ({
    calls: t.expose('calls', { type: [CallType], description: 'The newest 50 calls, newest first.' }),
    counts: t.expose('counts', { type: [CallCount], description: 'All calls, by server and outcome.' }),
  }),
});
