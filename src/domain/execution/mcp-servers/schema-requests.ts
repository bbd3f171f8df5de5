// Requests about MCP servers, with the limits of each field, and the responses of a sign-in (docs/contract.md#mcp-servers).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { epochMs, members, string, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { AgentRole } from '../../projects/agents/schema-catalog.ts';
import { serverNamePattern } from './declared.ts';
import { maxCredentials, secretLength, secretPattern } from './operations.ts';

const maxEntries = { roles: 5, approvedTools: 500, egressHosts: 20 } as const;

const nameRule = 'must be up to 64 letters, digits, _ or -, beginning with a letter or digit';
/** The name of a server as a path parameter. */
export const serverName = {
  required: true,
  description: 'The name in the config file: up to 64 letters, digits, `_` or `-`, beginning with a letter or digit.',
  validate: { schema: boundedText(text.mcpServerName).regex(serverNamePattern, nameRule) },
} as const;

export const UpdateProjectMcpRequest = request(
  'UpdateProjectMcpRequest',
  z
    .object({
      configPath: boundedText(text.filePath)
        .nullable()
        .optional()
        .describe('Path of the config file from the top of the repository; null means `service.yml`.'),
    })
    .meta({ description: 'The path of a project’s config file.', examples: [{ configPath: 'config/service.yml' }] }),
);

const approvedTool = z
  .object({
    name: boundedText(text.mcpToolName).describe('The server’s name for the tool.'),
    attestedReadOnly: z
      .boolean()
      .default(false)
      .describe('Whether a person attests that the tool is read-only. Roles other than `builder` get only such tools.'),
    alwaysAsk: z
      .boolean()
      .optional()
      .describe(
        'Whether a person decides about each call, with its arguments. Absent means unchanged, and false for a new tool.',
      ),
  })
  .describe('A tool that agents may use.');

const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const credentialValue = boundedText(secretLength).regex(
  secretPattern,
  'must be one line of printable ASCII characters',
);
const credentials = z
  .record(
    z.string().regex(secretName, 'must be named with up to 64 letters, digits and _, not beginning with a digit'),
    credentialValue.nullable(),
  )
  .refine((values) => Object.keys(values).length <= maxCredentials, `must be at most ${maxCredentials}`)
  .meta({ maxProperties: maxCredentials });

const hostname = boundedText({ min: 1, max: 253 }).regex(
  /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:.]+\]$/,
  'must be a host name in lower case, without scheme, port and path',
);

export const PutMcpBindingRequest = request(
  'PutMcpBindingRequest',
  z
    .object({
      roles: z.array(AgentRole.zod).max(maxEntries.roles).describe('The roles whose agents may use the server.'),
      approvedTools: z
        .array(approvedTool)
        .max(maxEntries.approvedTools)
        .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, 'must name each tool once')
        .optional()
        .describe(
          'The approved tools; absent means no change. A list also states that all tools were reviewed in their present form.',
        ),
      credentials: credentials
        .optional()
        .describe(
          'Values of the declared secrets by name, which are never returned. Null deletes a value, and absent values are kept.',
        ),
      allowedEgressHosts: z
        .array(hostname)
        .max(maxEntries.egressHosts)
        .optional()
        .describe(
          'Hosts to which the service may send requests in addition to the host of the server, such as the host of its authorization server.',
        ),
      enabled: z
        .boolean()
        .optional()
        .describe('Whether missions can use the server; true when absent in the request that binds the server.'),
    })
    .meta({
      description: 'The binding of a declared server.',
      examples: [{ roles: ['planner', 'builder'], approvedTools: [{ name: 'search', attestedReadOnly: true }] }],
    }),
);

const returnTo = boundedText({ min: 1, max: 2_000 })
  .regex(/^\/console(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/, 'must be a path of the console, such as /console/o/acme/mcp')
  .refine((path) => !path.split(/[/?]/).includes('..'), 'must not contain ..');
export const StartMcpOAuthRequest = request(
  'StartMcpOAuthRequest',
  z
    .object({
      returnTo: returnTo.optional().describe('The path of the console that the person returns to afterwards.'),
    })
    .meta({
      description: 'The path of the console to which the person returns after signing in to the server.',
      examples: [{ returnTo: '/console/o/acme/mcp' }],
    }),
);

export const CompleteMcpOAuthRequest = request(
  'CompleteMcpOAuthRequest',
  z
    .object({
      code: boundedText(text.oauthCode).describe('The authorization code (RFC 6749, section 4.1.2).'),
      state: boundedText(text.oauthState).describe(
        'The state parameter: accepted once, from the person who started the sign-in.',
      ),
      iss: boundedText(text.redirectUri)
        .optional()
        .describe('The issuer identifier, if the authorization server sent one (RFC 9207).'),
    })
    .meta({
      description: 'The parameters with which the authorization server redirected the person.',
      examples: [{ code: 'SplxlOBeZQQYbYS6WxSbIA', state: 'af0ifjsldkj' }],
    }),
);

export const OAuthStart = builder
  .objectRef<{ authorizeUrl: string; expiresAt: number }>('McpOAuthStartResponse')
  .implement({
    description: 'The page on which the person signs in to the server.',
    fields: (t) =>
      members(t, {
        authorizeUrl: string('URL to open in the browser of the person.'),
        expiresAt: epochMs('The time until which the person can finish signing in.'),
      }),
  });
export const OAuthComplete = builder
  .objectRef<{ projectId: string; serverName: string; returnTo: string }>('McpOAuthCompleteResponse')
  .implement({
    description: 'The server that was connected.',
    fields: (t) =>
      members(t, {
        projectId: string('The project of the server.'),
        serverName: string('Name of the server in the config file.'),
        returnTo: string('The path of the console that was given to `startMcpOAuth`.'),
      }),
  });
export const Deleted = builder.objectRef<{ deleted: true }>('McpDeleteResponse').implement({
  description: 'The binding and its credentials were deleted.',
  fields: (t) =>
    members(t, {
      deleted: typed('True', 'Always true, because the request fails with 404 when there is no binding to delete.'),
    }),
});
