// Cases that send the same query to the service over REST and over each protocol for agents.
import type { Request } from 'autocannon';
import { type Comparison, json, projectsOfOrdinary, runsOfOrdinary, type Servers } from './cases.ts';
import { ordinary } from './database.ts';

const mcp = (params: object): Request => ({
  method: 'POST',
  path: '/mcp',
  headers: { ...json, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
});

const a2a = (params: object): Request => ({
  method: 'POST',
  path: '/a2a',
  headers: json,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params }),
});

export function protocolComparisons({ service: server }: Servers): Comparison[] {
  const asking = (name: string, requests: Request[]) => ({ name, server, organization: ordinary, requests });
  return [
    {
      name: 'MCP: get_project against REST',
      contenders: [
        asking(
          'GET /v1/projects/{projectId}',
          projectsOfOrdinary.map((id) => ({ path: `/v1/projects/${id}` })),
        ),
        {
          ...asking(
            'MCP tools/call get_project',
            projectsOfOrdinary.map((projectId) => mcp({ name: 'get_project', arguments: { projectId } })),
          ),
          sameOf: ({ result }: { result: { structuredContent: unknown } }) => result.structuredContent,
        },
      ],
    },
    {
      name: 'A2A: tasks/get against REST',
      contenders: [
        {
          ...asking(
            'GET /v1/runs/{runId}',
            runsOfOrdinary.map((id) => ({ path: `/v1/runs/${id}` })),
          ),
          sameOf: ({ id, projectId }: { id: string; projectId: string }) => ({ id, projectId }),
        },
        {
          ...asking(
            'A2A tasks/get',
            runsOfOrdinary.map((id) => a2a({ id })),
          ),
          sameOf: ({ result }: { result: { id: string; metadata: { projectId: string } } }) => ({
            id: result.id,
            projectId: result.metadata.projectId,
          }),
        },
      ],
    },
  ];
}
