// MCP servers of a project on every surface (specification, MCP server binding; MCP servers of a project).
import type { Row } from '#foundation/base-model.ts';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { shown } from '#limits.ts';
import { AgentRole } from '../agents/fields.ts';
import { RunType } from '../runs/schema.ts';
import * as authorization from './authorization.ts';
import * as fields from './fields.ts';
import * as gateway from './gateway.ts';
import {
  authKinds,
  bindingStatuses,
  callOutcomes,
  McpBinding,
  McpCall,
  statusOf,
  toolsFor,
  transports,
} from './model.ts';
import * as operations from './operations.ts';
import { refreshTools } from './tools.ts';
import { configStatuses, type McpServer, type ProjectMcpView, setConfigPath, viewProject } from './view.ts';

const ConfigPathSource = wordSet('McpConfigPathSource', ['service.yml', 'project'], 'Where the path comes from.');
const ConfigStatus = wordSet('McpConfigStatus', configStatuses, 'Whether the config file could be read.');
const Transport = wordSet('McpTransport', transports, 'Where a bound server runs: elsewhere, or in sandboxes.');
const BindingStatus = wordSet('McpBindingStatus', bindingStatuses, 'Whether a bound server can be used.');
const AuthKind = wordSet('McpAuthKind', authKinds, 'What a bound server is shown as credentials.');
const CallOutcome = wordSet('McpCallOutcome', callOutcomes, 'How a call of a tool ended.');

const countedRoles = ['planner', 'builder', 'reviewer', 'qa'] as const;
const ToolCounts = builder.objectRef<Row<McpBinding>>('McpToolCounts').implement({
  description: 'How many tools an agent of each role gets: approved, and unchanged since.',
  fields: (t) =>
    Object.fromEntries(countedRoles.map((role) => [role, t.int({ resolve: (one) => toolsFor(one, role).length })])),
});

const BindingType = builder.modelType(McpBinding, 'McpBinding').implement({
  description: 'How a declared server is bound to its project: who may use which of its tools.',
  fields: (t) => ({
    transport: t.expose('transport', { type: Transport.type }),
    status: t.field({ type: BindingStatus.type, resolve: (one) => statusOf(one).status }),
    statusDetail: t.string({
      nullable: true,
      description: 'What a person has to do; null when there is nothing.',
      resolve: (one) => statusOf(one).statusDetail,
    }),
    roles: t.expose('roles', { type: [AgentRole.type], description: 'Whose agents may use it.' }),
    authKind: t.expose('authKind', { type: AuthKind.type }),
    pinnedUrl: t.exposeString('pinnedUrl', {
      nullable: true,
      description: 'The address when it was bound: the only one that anything is sent to.',
    }),
    packageSpec: t.exposeString('packageSpec', { nullable: true, description: 'The package when it was bound.' }),
    allowedEgressHosts: t.exposeStringList('allowedEgressHosts', {
      description: 'Hosts that may be asked beside the one of `pinnedUrl`.',
    }),
    credentialFields: t.exposeStringList('credentialFields', { description: 'Names of the credentials it has.' }),
    toolSnapshot: t.expose('toolSnapshot', { type: [fields.ToolType] }),
    approvedTools: t.expose('approvedTools', { type: [fields.ApprovedToolType] }),
    toolsRefreshedAt: t.expose('toolsRefreshedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the tools were last read; null: never.',
    }),
    effectiveToolCounts: t.field({ type: ToolCounts, resolve: (one) => one }),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
    updatedAt: t.expose('updatedAt', { type: 'EpochMs' }),
  }),
});

const ServerType = builder.objectRef<McpServer>('McpServer').implement({
  description: 'A server that is declared, bound, or both.',
  fields: (t) => ({
    name: t.exposeString('name'),
    declared: t.expose('declared', {
      type: fields.DeclaredType,
      nullable: true,
      description: 'Null: not, or no longer.',
    }),
    binding: t.expose('binding', { type: BindingType, nullable: true, description: 'Null: not bound.' }),
  }),
});

const ViewType = builder.objectRef<ProjectMcpView>('ProjectMcpView').implement({
  description: 'The MCP servers of a project: declared in its repository and bound here, side by side.',
  fields: (t) => ({
    projectId: t.exposeString('projectId'),
    configPath: t.exposeString('configPath', { description: 'Path of the config file in the repository.' }),
    configPathSource: t.expose('configPathSource', { type: ConfigPathSource.type }),
    configRef: t.exposeString('configRef', { nullable: true, description: 'The ref that was read; null: none was.' }),
    configStatus: t.expose('configStatus', { type: ConfigStatus.type }),
    configError: t.exposeString('configError', { nullable: true, description: 'What is wrong; null when `ok`.' }),
    warnings: t.exposeStringList('warnings', { description: 'What the file had better not hold.' }),
    servers: t.expose('servers', { type: [ServerType] }),
  }),
});

const ListItem = builder.objectRef<operations.BindingOfProject>('McpBindingListItem').implement({
  description: 'A bound server, in short.',
  fields: (t) => ({
    projectId: t.exposeString('projectId'),
    projectName: t.exposeString('projectName'),
    serverName: t.exposeString('serverName'),
    transport: t.expose('transport', { type: Transport.type }),
    status: t.field({ type: BindingStatus.type, resolve: (one) => statusOf(one).status }),
    statusDetail: t.string({
      nullable: true,
      description: 'What a person has to do; null when there is nothing.',
      resolve: (one) => statusOf(one).statusDetail,
    }),
    roles: t.expose('roles', { type: [AgentRole.type] }),
    authKind: t.expose('authKind', { type: AuthKind.type }),
    credentialFields: t.exposeStringList('credentialFields'),
    updatedAt: t.expose('updatedAt', { type: 'EpochMs' }),
  }),
});

const Bindings = builder.objectRef<{ bindings: operations.BindingOfProject[] }>('McpBindingList').implement({
  description: 'The bound servers that the caller may see.',
  fields: (t) => ({ bindings: t.expose('bindings', { type: [ListItem] }) }),
});
const RunServer = builder.objectRef<gateway.RunMcpServer>('RunMcpServer').implement({
  description: 'An MCP server that the agent of a run may use.',
  fields: (t) => ({
    serverName: t.exposeString('serverName'),
    url: t.exposeString('url', {
      description: 'Streamable HTTP; requests carry the service token, and the lease in the header X-Lease-Id.',
    }),
  }),
});

builder.queryFields((t) => ({
  projectMcp: t.field({
    description: 'The MCP servers that a project declares and those that are bound to it.',
    scope: 'mcp:read',
    rest: 'GET /mcp/projects/{projectId}',
    tool: 'get_project_mcp',
    type: ViewType,
    args: { projectId: t.arg.string(pathId) },
    resolve: (_, { projectId }, { caller }) => viewProject(caller, projectId),
  }),
  mcpBindings: t.field({
    description: 'The bound MCP servers of all projects that the caller may see.',
    scope: 'mcp:read',
    rest: 'GET /mcp/bindings',
    tool: 'list_mcp_bindings',
    type: Bindings,
    resolve: async (_, _args, { caller }) => ({ bindings: await operations.listBindings(caller) }),
  }),
  runMcpServers: t.field({
    description: 'The MCP servers that the agent of a run may use, for the runtime that holds the run.',
    scope: 'runtime:report',
    type: [RunServer],
    args: { runId: t.arg.string(pathId), leaseId: t.arg.string(pathId) },
    resolve: (_, hold, { caller }) => gateway.serversOfRun(caller, hold),
  }),
}));

const ofServer = { projectId: pathId, serverName: fields.serverName };

builder.mutationFields((t) => ({
  updateProjectMcp: t.field({
    description: 'Sets where the config file is. A member that is left out stays.',
    scope: 'mcp:write',
    rest: 'PATCH /mcp/projects/{projectId}',
    tool: { name: 'update_project_mcp', idempotent: true },
    type: ViewType,
    args: { projectId: t.arg.string(pathId), input: t.arg({ type: fields.UpdateProjectMcpRequest, required: true }) },
    resolve: (_, { projectId, input }, { caller }) => setConfigPath(caller, projectId, input.configPath),
  }),
  putMcpBinding: t.field({
    description: 'Binds an MCP server as it is declared now, or changes how it is bound.',
    scope: 'mcp:write',
    rest: { route: 'PUT /mcp/projects/{projectId}/servers/{serverName}', errors: [409] },
    tool: { name: 'put_mcp_binding', idempotent: true },
    type: BindingType,
    args: {
      projectId: t.arg.string(ofServer.projectId),
      serverName: t.arg.string(ofServer.serverName),
      input: t.arg({ type: fields.PutMcpBindingRequest, required: true }),
    },
    resolve: (_, { projectId, serverName, input }, { caller }) =>
      operations.putBinding(caller, projectId, serverName, input),
  }),
  deleteMcpBinding: t.field({
    description: 'Takes a binding off, with its credentials and what its server has granted.',
    scope: 'mcp:write',
    rest: 'DELETE /mcp/projects/{projectId}/servers/{serverName}',
    tool: { name: 'delete_mcp_binding', destructive: true, idempotent: true },
    type: fields.Deleted,
    args: { projectId: t.arg.string(ofServer.projectId), serverName: t.arg.string(ofServer.serverName) },
    resolve: (_, { projectId, serverName }, { caller }) => operations.deleteBinding(caller, projectId, serverName),
  }),
  refreshMcpTools: t.field({
    description: 'Connects to a bound remote server and reads its tools; the status says how that went.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/projects/{projectId}/servers/{serverName}/tools/refresh', errors: [409] },
    tool: { name: 'refresh_mcp_tools', idempotent: true, openWorld: true },
    type: BindingType,
    args: { projectId: t.arg.string(ofServer.projectId), serverName: t.arg.string(ofServer.serverName) },
    resolve: (_, { projectId, serverName }, { caller }) => refreshTools(caller, projectId, serverName),
  }),
  startMcpOAuth: t.field({
    description: 'Begins to connect a person to a server that requires OAuth.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/projects/{projectId}/servers/{serverName}/oauth/start', errors: [409, 502] },
    type: fields.OAuthStart,
    args: {
      projectId: t.arg.string(ofServer.projectId),
      serverName: t.arg.string(ofServer.serverName),
      input: t.arg({ type: fields.StartMcpOAuthRequest, required: true }),
    },
    resolve: (_, { projectId, serverName, input }, { caller }) =>
      authorization.startOAuth(caller, projectId, serverName, input.returnTo),
  }),
  completeMcpOAuth: t.field({
    description: 'Ends what `startMcpOAuth` began: for the person who began it, once.',
    scope: 'mcp:write',
    rest: { route: 'POST /mcp/oauth/complete', errors: [404, 409, 502] },
    type: fields.OAuthComplete,
    args: { input: t.arg({ type: fields.CompleteMcpOAuthRequest, required: true }) },
    resolve: (_, { input }, { caller }) => authorization.completeOAuth(caller, input),
  }),
}));

builder.modelType(McpCall, 'McpCall').implement({
  description: 'One call of a tool of an MCP server, by a run.',
  fields: (t) => ({
    id: t.exposeString('id'),
    serverName: t.exposeString('serverName'),
    tool: t.exposeString('tool'),
    outcome: t.expose('outcome', { type: CallOutcome.type }),
    durationMs: t.exposeInt('durationMs', { description: 'Milliseconds.' }),
    createdAt: t.expose('createdAt', { type: 'EpochMs', description: 'When it began.' }),
  }),
});

builder.objectField(RunType, 'mcpCalls', (t) =>
  t.hasMany('mcpCalls', {
    link: 'mcp:read',
    limit: shown.perParent,
    description: 'The newest 20 calls of tools of MCP servers.',
  }),
);
