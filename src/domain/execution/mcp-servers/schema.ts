// MCP servers of a project in all APIs (docs/contract.md#mcp-servers).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { ifUpdatedAt, pathId } from '#graph/input.ts';
import { boundedText } from '#graph/validation.ts';
import { previewSizes, text } from '#limits.ts';
import { RunType } from '../../work/runs/schema.ts';
import * as authorization from './authorization.ts';
import * as gateway from './gateway.ts';
import * as operations from './operations.ts';
import { reviewTools } from './review.ts';
import * as fields from './schema-records.ts';
import * as requests from './schema-requests.ts';
import { maxToolNames, ToolReviewType } from './schema-review.ts';
import { refreshTools } from './tools.ts';
import { setConfigPath, viewProject } from './view.ts';

builder.queryFields((t) => ({
  projectMcp: t.field({
    description: 'The MCP servers that a project declares, and the servers bound to it.',
    scope: 'mcp:read',
    rest: 'GET /mcp/projects/{projectId}',
    tool: 'get_project_mcp',
    type: fields.ViewType,
    args: { projectId: t.arg.string(pathId) },
    resolve: (_, { projectId }, { caller }) => viewProject(caller, projectId),
  }),
  mcpBindings: t.field({
    description: 'The bound MCP servers of all projects that the caller may see.',
    scope: 'mcp:read',
    rest: 'GET /mcp/bindings',
    tool: 'list_mcp_bindings',
    type: fields.Bindings,
    resolve: async (_, _args, { caller }) => ({ bindings: await operations.listBindings(caller) }),
  }),
  mcpToolReview: t.field({
    description: 'The tools of a bound server as a person reviews them before approving.',
    scope: 'mcp:read',
    type: ToolReviewType,
    complexity: ({ names }) => ({ field: 1, multiplier: names?.length ?? 10 }),
    args: {
      projectId: t.arg.string(pathId),
      serverName: t.arg.string(requests.serverName),
      names: t.arg.stringList({
        description: `Only these tools, at most ${maxToolNames}, with their definitions. Absent means all tools, without definitions.`,
        validate: { schema: z.array(boundedText(text.mcpToolName)).max(maxToolNames) },
      }),
    },
    resolve: (_, { projectId, serverName, names }, { caller }) => reviewTools(caller, projectId, serverName, names),
  }),
  runMcpServers: t.field({
    description: 'The MCP servers that the agent of a run may use, for the runtime with the lease on the run.',
    scope: 'runtime:report',
    type: [fields.RunServer],
    args: { runId: t.arg.string(pathId), leaseId: t.arg.string(pathId) },
    resolve: (_, hold, { caller }) => gateway.serversOfRun(caller, hold),
  }),
}));

const ofServer = { projectId: pathId, serverName: requests.serverName };

builder.mutationFields((t) => ({
  updateProjectMcp: t.field({
    description: 'Sets the path of the config file. Omitted members stay unchanged.',
    scope: 'mcp:write',
    rest: 'PATCH /mcp/projects/{projectId}',
    tool: { name: 'update_project_mcp', idempotent: true },
    type: fields.ViewType,
    args: {
      projectId: t.arg.string(pathId),
      input: t.arg({ type: requests.UpdateProjectMcpRequest, required: true, description: 'The path to set.' }),
    },
    resolve: (_, { projectId, input }, { caller }) => setConfigPath(caller, projectId, input.configPath),
  }),
  putMcpBinding: t.field({
    description: 'Binds an MCP server as currently declared, or changes its binding.',
    scope: 'mcp:write',
    rest: {
      route: 'PUT /mcp/projects/{projectId}/servers/{serverName}',
      without: ['ifUpdatedAt'],
      errors: [409],
    },
    tool: { name: 'put_mcp_binding', idempotent: true },
    type: fields.BindingType,
    args: {
      projectId: t.arg.string(ofServer.projectId),
      serverName: t.arg.string(ofServer.serverName),
      input: t.arg({
        type: requests.PutMcpBindingRequest,
        required: true,
        description: 'The binding; omitted optional fields keep their value.',
      }),
      ifUpdatedAt: t.arg({ type: 'EpochMs', ...ifUpdatedAt }),
    },
    resolve: (_, { projectId, serverName, input, ifUpdatedAt: seen }, { caller }) =>
      operations.putBinding(caller, projectId, serverName, input, seen),
  }),
  deleteMcpBinding: t.field({
    description: 'Removes a binding, with its credentials and the grants of its server.',
    scope: 'mcp:write',
    rest: 'DELETE /mcp/projects/{projectId}/servers/{serverName}',
    tool: { name: 'delete_mcp_binding', destructive: true, idempotent: true },
    type: requests.Deleted,
    args: { projectId: t.arg.string(ofServer.projectId), serverName: t.arg.string(ofServer.serverName) },
    resolve: (_, { projectId, serverName }, { caller }) => operations.deleteBinding(caller, projectId, serverName),
  }),
  refreshMcpTools: t.field({
    description: 'Connects to a bound remote server and reads its tools; the status shows the outcome.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/projects/{projectId}/servers/{serverName}/tools/refresh', errors: [409] },
    tool: { name: 'refresh_mcp_tools', idempotent: true, openWorld: true },
    type: fields.BindingType,
    args: { projectId: t.arg.string(ofServer.projectId), serverName: t.arg.string(ofServer.serverName) },
    resolve: (_, { projectId, serverName }, { caller }) => refreshTools(caller, projectId, serverName),
  }),
  startMcpOAuth: t.field({
    description: 'Starts the sign-in of a person to a server that requires OAuth.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/projects/{projectId}/servers/{serverName}/oauth/start', errors: [409, 502] },
    type: requests.OAuthStart,
    args: {
      projectId: t.arg.string(ofServer.projectId),
      serverName: t.arg.string(ofServer.serverName),
      input: t.arg({
        type: requests.StartMcpOAuthRequest,
        required: true,
        description: 'The path of the console to which the person returns.',
      }),
    },
    resolve: (_, { projectId, serverName, input }, { caller }) =>
      authorization.startOAuth(caller, projectId, serverName, input.returnTo),
  }),
  completeMcpOAuth: t.field({
    description: 'Completes the sign-in that `startMcpOAuth` began: once, and only for the person who began it.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/oauth/complete', errors: [404, 409, 502] },
    type: requests.OAuthComplete,
    args: {
      input: t.arg({
        type: requests.CompleteMcpOAuthRequest,
        required: true,
        description: 'The parameters of the authorization server’s callback.',
      }),
    },
    resolve: (_, { input }, { caller }) => authorization.completeOAuth(caller, input),
  }),
}));

builder.objectField(RunType, 'mcpCalls', (t) =>
  t.hasMany('mcpCalls', {
    link: 'mcp:read',
    limit: previewSizes.perParent,
    description: `The newest ${previewSizes.perParent} calls of tools of MCP servers.`,
  }),
);
