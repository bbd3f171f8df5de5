// The records of MCP servers in all APIs (docs/contract.md#mcp-servers).
import { builder } from '#graph/builder.ts';
import {
  boolean,
  epochMs,
  epochMsOrNull,
  members,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import type { RunMcpServer } from './gateway.ts';
import {
  type ApprovedTool,
  authKinds,
  bindingStatuses,
  McpBinding,
  statusOfServer,
  type ToolDefinition,
  toolsFor,
  transports,
} from './model.ts';
import type { BindingOfProject } from './operations.ts';
import { recentCalls } from './review.ts';
import { CallsOfDay } from './schema-calls.ts';
import { DeclaredType } from './schema-declared.ts';
import { configStatuses, type McpServer, type ProjectMcpView } from './view.ts';

export const ToolType = builder.objectRef<ToolDefinition>('McpTool').implement({
  description: 'A tool as its server described it last. The hints are the server’s own claims.',
  fields: (t) =>
    members(t, {
      name: string('Name for calls by agents; unique on its server.'),
      title: t.string({
        nullable: true,
        description: 'The display name; null when the tool has none.',
        resolve: ({ title, annotations }) => title ?? (annotations?.title as string | undefined) ?? null,
      }),
      description: t.string({
        nullable: true,
        description: 'The server’s description of the tool; null without one.',
        resolve: ({ description }) => description ?? null,
      }),
      readOnlyHint: t.boolean({
        description: 'Whether the tool claims to change nothing.',
        resolve: ({ annotations }) => annotations?.readOnlyHint === true,
      }),
      destructiveHint: t.boolean({
        description:
          'Whether the tool may destroy data. False if the server says that the tool changes nothing or destroys nothing; otherwise true.',
        resolve: ({ annotations }) => annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false,
      }),
    }),
});

const ApprovedToolType = builder.objectRef<ApprovedTool>('McpApprovedTool').implement({
  description: 'A tool that a person has approved.',
  fields: (t) =>
    members(t, {
      name: string('The server’s name for the tool.'),
      attestedReadOnly: boolean('Whether a person attests that the tool is read-only.'),
      alwaysAsk: t.boolean({
        graphOnly: true,
        description: 'Whether a person decides about each call, with its arguments.',
        resolve: ({ alwaysAsk }) => alwaysAsk ?? false,
      }),
    }),
});

const ConfigPathSource = wordSet('McpConfigPathSource', ['service.yml', 'project'], 'Source of the path.');
const ConfigStatus = wordSet('McpConfigStatus', configStatuses, 'Whether the config file could be read.', {
  ok: 'The file was read.',
  missing: 'The repository has no such file.',
  invalid: 'The file has an error: see `configError`.',
  unreachable: 'The repository could not be read.',
});
const Transport = wordSet(
  'McpTransport',
  transports,
  'Transport of a bound server: a remote server, or a command in sandboxes.',
  {
    remote: 'On another machine, reached over HTTP through the gateway of the service.',
    sandbox: 'A command inside the sandboxes of runs.',
  },
);
const BindingStatus = wordSet('McpBindingStatus', bindingStatuses, 'Whether a bound server can be used.', {
  ready: 'Runs can use the approved tools.',
  needs_auth: 'A credential is missing or was rejected.',
  needs_review: 'The declaration or the tools of the server have changed since they were approved.',
  error: 'The config file does not declare the server, or connecting to it failed.',
  disabled: 'A person has disabled the server.',
});
const AuthKind = wordSet('McpAuthKind', authKinds, 'Authentication method of a bound server.', {
  none: 'No credential.',
  bearer: 'A bearer token.',
  headers: 'Headers of the declaration, with secrets filled in.',
  oauth: 'OAuth, connected by a person.',
});
const countedRoles = ['planner', 'builder', 'reviewer', 'qa'] as const;
const ToolCounts = builder.objectRef<McpBinding>('McpToolCounts').implement({
  description: 'For each role, the number of tools that are approved for its agents and have not changed since.',
  fields: (t) =>
    Object.fromEntries(
      countedRoles.map((role) => [
        role,
        t.int({
          description: `Number of tools for an agent in the role ${role}.`,
          resolve: (one) => toolsFor(one, role).length,
        }),
      ]),
    ),
});

type FieldsOfBinding = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, McpBinding>;
const bindingFields = (t: FieldsOfBinding) =>
  members(t, {
    transport: typed(Transport.type, 'The transport, as declared when the server was bound.'),
    status: t.field({
      type: BindingStatus.type,
      description: 'Status of the binding, derived from its declaration and its tools at the time of the read.',
      resolve: (one) => statusOfServer(one).status,
    }),
    statusDetail: t.string({
      nullable: true,
      description: 'The action that a person must take; null when none is needed.',
      resolve: (one) => statusOfServer(one).statusDetail,
    }),
    roles: typed([AgentRole.type], 'The roles whose agents may use the server.'),
    authKind: typed(
      AuthKind.type,
      'The authentication method, which follows from the declaration and the credentials.',
    ),
  });

export const BindingType = builder.modelType(McpBinding, 'McpBinding').implement({
  description:
    'The binding of a declared server to its project. It says which roles may use which tools of the server.',
  fields: (t) =>
    members(t, {
      ...bindingFields(t),
      pinnedUrl: stringOrNull('The URL of the server at the time of binding; requests go to no other URL.'),
      packageSpec: stringOrNull(
        'The package at the time of binding, as `name@version`; null for a server without a package.',
      ),
      allowedEgressHosts: strings('Hosts that may get requests in addition to the host of `pinnedUrl`.'),
      credentialFields: strings('Names of the credentials that the binding has.'),
      toolSnapshot: typed([ToolType], 'The tools as they were last read from the server.'),
      approvedTools: typed([ApprovedToolType], 'The tools that agents may use; no other tools are offered.'),
      toolsRefreshedAt: epochMsOrNull('When the tools were last read from the server; null means never.'),
      effectiveToolCounts: t.field({
        type: ToolCounts,
        description: 'Number of tools that an agent of each role can use now.',
        resolve: (one) => one,
      }),
      createdAt: epochMs('When the server was bound.'),
      updatedAt: epochMs('When a person last changed the binding.'),
    }),
});

const ServerType = builder.objectRef<McpServer>('McpServer').implement({
  description: 'A server that is declared, bound, or both.',
  fields: (t) =>
    members(t, {
      name: string('The name of the server, unique in the project.'),
      declared: typedOrNull(DeclaredType, 'The declaration; null when the config file has none.'),
      binding: typedOrNull(BindingType, 'The binding; null when the server is not bound.'),
    }),
});

export const ViewType = builder.objectRef<ProjectMcpView>('ProjectMcpView').implement({
  description: 'The MCP servers of a project, both declared in its repository and bound.',
  fields: (t) =>
    members(t, {
      projectId: string('The id of the project; starts with `prj_`.'),
      configPath: string('Path of the config file in the repository.'),
      configPathSource: typed(ConfigPathSource.type, 'Source of the path: `project` when the project has set its own.'),
      configRef: stringOrNull('The ref that was read; null when none was read.'),
      configStatus: typed(ConfigStatus.type, 'The outcome of reading the file now.'),
      configError: stringOrNull('The error; null when `ok`.'),
      warnings: strings('Warnings about content that the file should not have.'),
      servers: typed(
        [ServerType],
        'First the servers that the file declares, in its order; then the bound servers that it does not declare.',
      ),
      callsOfDay: t.field({
        graphOnly: true,
        type: CallsOfDay,
        description: 'Calls of the tools of these servers by runs in the last 24 hours.',
        resolve: ({ projectId }) => recentCalls(projectId),
      }),
    }),
});

const ListItem = builder.objectRef<BindingOfProject>('McpBindingListItem').implement({
  description: 'An MCP server that is bound to a project, as shown in lists.',
  fields: (t) =>
    members(t, {
      projectId: string('The project that the server is bound to.'),
      projectName: string('The name of the project that the server is bound to.'),
      serverName: string('Name of the server in the config file.'),
      ...bindingFields(t as unknown as FieldsOfBinding),
      credentialFields: strings('Names of the credentials that the binding has.'),
      updatedAt: epochMs('When a person last changed the binding.'),
    }),
});

export const Bindings = builder.objectRef<{ bindings: BindingOfProject[] }>('McpBindingList').implement({
  description: 'The MCP servers that are bound to projects. Only projects that the caller may see are included.',
  fields: (t) =>
    members(t, {
      bindings: typed([ListItem], 'The bindings, ordered by the name of the project.'),
    }),
});
export const RunServer = builder.objectRef<RunMcpServer>('RunMcpServer').implement({
  description: 'An MCP server that the agent of a run may use.',
  fields: (t) =>
    members(t, {
      serverName: string('Name of the server in the config file.'),
      url: string('URL for streamable HTTP; requests carry the service token, and the lease in the header X-Lease-Id.'),
      alwaysAsk: strings(
        'Tools of which a person must approve every call. The runtime asks with a fragment of the kind `elicitation`: `action` is ' +
          'server.tool, `parameter` has the arguments as JSON, and the call sends its `toolUseId` in the header X-Question-Id.',
      ),
    }),
});
