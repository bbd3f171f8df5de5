// What is said of MCP servers, field by field: the requests with their bounds, and the parts of the records (specification, MCP
// server binding).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { mcpBinding, text } from '#limits.ts';
import { AgentRole } from '../agents/fields.ts';
import { type Declared, serverNamePattern } from './declared.ts';
import { type Isolation, isolationKinds, refusalReasons } from './isolation.ts';
import type { ApprovedTool, ToolDefinition } from './model.ts';

const nameRule = 'must be up to 64 letters, digits, _ or -, beginning with a letter or digit';
/** The path parameter. */
export const serverName = {
  required: true,
  description: 'As the config file names it: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit.',
  validate: { schema: boundedText(text.mcpServerName).regex(serverNamePattern, nameRule) },
} as const;

export const UpdateProjectMcpRequest = request(
  'UpdateProjectMcpRequest',
  z
    .object({
      configPath: boundedText(text.filePath)
        .nullable()
        .optional()
        .describe('Path of the config file from the top of the repository; null: `service.yml`.'),
    })
    .meta({ examples: [{ configPath: 'config/service.yml' }] }),
);

const approvedTool = z.object({
  name: boundedText(text.mcpToolName),
  attestedReadOnly: z
    .boolean()
    .default(false)
    .describe('Whether a person vouches that it changes nothing. Roles other than `builder` get such tools alone.'),
});

const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const credentials = z
  .record(
    z.string().regex(secretName, 'must be named with up to 64 letters, digits and _, not beginning with a digit'),
    boundedText(text.mcpSecret)
      .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be one line of printable ASCII characters')
      .nullable(),
  )
  .refine((given) => Object.keys(given).length <= mcpBinding.credentials, `must be at most ${mcpBinding.credentials}`)
  .meta({ maxProperties: mcpBinding.credentials });

const hostname = boundedText(text.hostname).regex(
  /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:.]+\]$/,
  'must be a host name in lower case, without scheme, port and path',
);

export const PutMcpBindingRequest = request(
  'PutMcpBindingRequest',
  z
    .object({
      roles: z.array(AgentRole.zod).max(mcpBinding.roles).describe('Whose agents may use the server.'),
      approvedTools: z
        .array(approvedTool)
        .max(mcpBinding.approvedTools)
        .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, 'must name each tool once')
        .optional()
        .describe('Left out: as they were. Given, it also says that all tools have been reviewed as they are now.'),
      credentials: credentials
        .optional()
        .describe('Values of the declared secrets by name; never shown again. Null forgets one, one left out is kept.'),
      allowedEgressHosts: z
        .array(hostname)
        .max(mcpBinding.egressHosts)
        .optional()
        .describe('Hosts that may be asked beside the one of the server, such as its authorization server.'),
      enabled: z.boolean().optional().describe('True unless said otherwise when the server is bound.'),
    })
    .meta({
      examples: [{ roles: ['planner', 'builder'], approvedTools: [{ name: 'search', attestedReadOnly: true }] }],
    }),
);

const returnTo = boundedText(text.consolePath)
  .regex(/^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/, 'must be a path of the console, such as /console/projects')
  .refine((path) => !path.split(/[/?]/).includes('..'), 'must have no .. in it');
export const StartMcpOAuthRequest = request(
  'StartMcpOAuthRequest',
  z
    .object({ returnTo: returnTo.optional().describe('The path of the console that the person comes back to.') })
    .meta({ examples: [{ returnTo: '/console/projects' }] }),
);

export const CompleteMcpOAuthRequest = request(
  'CompleteMcpOAuthRequest',
  z
    .object({
      code: boundedText(text.oauthCode).describe('What the authorization server sent back with the person.'),
      state: boundedText(text.oauthState).describe('The same; good once, for the person who started.'),
      iss: boundedText(text.redirectUri).optional().describe('The same, where it names itself (RFC 9207).'),
    })
    .meta({ examples: [{ code: 'SplxlOBeZQQYbYS6WxSbIA', state: 'af0ifjsldkj' }] }),
);

const DeclaredTransport = wordSet('McpDeclaredTransport', ['http', 'stdio'], 'How a server is spoken to.');
const IsolationKind = wordSet('McpIsolationKind', isolationKinds, 'Where a server runs.');
const RefusalReason = wordSet('McpRefusalReason', refusalReasons, 'Why a declared command may not run.');

const IsolationType = builder.objectRef<Isolation>('McpIsolation').implement({
  description: 'Where a declared server may run.',
  fields: (t) => ({
    kind: t.expose('kind', { type: IsolationKind.type }),
    packageSpec: t.exposeString('packageSpec', { nullable: true, description: 'The pinned package, `name@version`.' }),
    reason: t.expose('reason', { type: RefusalReason.type, nullable: true, description: 'Null unless refused.' }),
  }),
});

export const DeclaredType = builder.objectRef<Declared>('McpDeclared').implement({
  description: 'A server as the config file declares it. Values of headers and variables are never shown.',
  fields: (t) => ({
    name: t.exposeString('name'),
    transport: t.expose('transport', { type: DeclaredTransport.type }),
    origin: t.exposeString('origin', { nullable: true, description: 'Scheme, host and port; null for a command.' }),
    path: t.exposeString('path', { nullable: true, description: 'Path of the address; null for a command.' }),
    command: t.exposeString('command', { nullable: true, description: 'Null for an http server.' }),
    displayArgs: t.exposeStringList('displayArgs', { description: 'Arguments; what looks like a secret is hidden.' }),
    headerNames: t.exposeStringList('headerNames'),
    envNames: t.exposeStringList('envNames', { description: 'Names of environment variables.' }),
    secretRefs: t.exposeStringList('secretRefs', { description: 'Names of the secrets that it needs.' }),
    isolation: t.expose('isolation', { type: IsolationType }),
  }),
});

export const ToolType = builder.objectRef<ToolDefinition>('McpTool').implement({
  description: 'A tool as its server described it last. The hints are the server’s own claims.',
  fields: (t) => ({
    name: t.exposeString('name'),
    title: t.string({
      nullable: true,
      resolve: ({ title, annotations }) => title ?? (annotations?.title as string | undefined) ?? null,
    }),
    description: t.string({ nullable: true, resolve: ({ description }) => description ?? null }),
    readOnlyHint: t.boolean({
      description: 'Whether it claims to change nothing.',
      resolve: ({ annotations }) => annotations?.readOnlyHint === true,
    }),
    destructiveHint: t.boolean({
      description: 'Whether it may destroy; true unless the server says otherwise of a tool that changes something.',
      resolve: ({ annotations }) => annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false,
    }),
  }),
});

export const ApprovedToolType = builder.objectRef<ApprovedTool>('McpApprovedTool').implement({
  description: 'A tool that a person has approved.',
  fields: (t) => ({
    name: t.exposeString('name'),
    attestedReadOnly: t.exposeBoolean('attestedReadOnly', {
      description: 'Whether a person vouches that it changes nothing.',
    }),
  }),
});

export const OAuthStart = builder
  .objectRef<{ authorizeUrl: string; expiresAt: number }>('McpOAuthStartResponse')
  .implement({
    description: 'Where the person goes to sign in to the server.',
    fields: (t) => ({
      authorizeUrl: t.exposeString('authorizeUrl', { description: 'To be opened in the browser of the person.' }),
      expiresAt: t.expose('expiresAt', { type: 'EpochMs', description: 'Until then the way back is open.' }),
    }),
  });
export const OAuthComplete = builder
  .objectRef<{ projectId: string; serverName: string; returnTo: string }>('McpOAuthCompleteResponse')
  .implement({
    description: 'The server that is connected now.',
    fields: (t) => ({
      projectId: t.exposeString('projectId'),
      serverName: t.exposeString('serverName'),
      returnTo: t.exposeString('returnTo', { description: 'A path of the console: where the person began.' }),
    }),
  });
export const Deleted = builder.objectRef<{ deleted: true }>('McpDeleteResponse').implement({
  description: 'The binding is gone, with its credentials.',
  fields: (t) => ({ deleted: t.expose('deleted', { type: 'True' }) }),
});
