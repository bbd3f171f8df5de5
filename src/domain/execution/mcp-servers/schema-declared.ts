// The record of a declared MCP server: its entry in the config file, and where it may run.
import { builder } from '#graph/builder.ts';
import { members, string, stringOrNull, strings, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import type { Declared } from './declared.ts';
import { type Isolation, isolationKinds, refusalReasons } from './isolation.ts';

const DeclaredTransport = wordSet('McpDeclaredTransport', ['http', 'stdio'], 'The transport of a declared server.', {
  http: 'Streamable HTTP at a URL.',
  stdio: 'Standard input and output of a command.',
});
const IsolationKind = wordSet('McpIsolationKind', isolationKinds, 'Place where a server runs.', {
  remote: 'On another machine, reached over HTTP.',
  sandbox: 'A command inside the sandboxes of runs.',
  refused: 'The server is not allowed to run; `reason` says why.',
});
const RefusalReason = wordSet('McpRefusalReason', refusalReasons, 'Reason why a declared command must not run.');

const IsolationType = builder.objectRef<Isolation>('McpIsolation').implement({
  description: 'Where a declared server may run, if at all.',
  fields: (t) =>
    members(t, {
      kind: typed(
        IsolationKind.type,
        'Where the server runs; `refused` if it must not run. Derived from its transport and its command.',
      ),
      packageSpec: stringOrNull('The pinned package, `name@version`.'),
      reason: typedOrNull(RefusalReason.type, 'The reason for a refusal; null otherwise.'),
    }),
});

export const DeclaredType = builder.objectRef<Declared>('McpDeclared').implement({
  description: 'A server as the config file declares it. Values of headers and variables are never shown.',
  fields: (t) =>
    members(t, {
      name: string('The name of the server, unique in the config file.'),
      transport: typed(DeclaredTransport.type, 'The transport: `http` for a server with a URL, `stdio` for a command.'),
      origin: stringOrNull('Scheme, host and port; null for a command.'),
      path: stringOrNull('Path of the URL; null for a command.'),
      command: stringOrNull('The command of the server; null for an http server.'),
      displayArgs: strings('Arguments of the command; text that looks like a secret is hidden.'),
      headerNames: strings('Names of the headers that are sent to the server.'),
      envNames: strings('Names of environment variables.'),
      secretRefs: strings('Names of the secrets that the server needs.'),
      isolation: typed(IsolationType, 'The place in which the server may run, or the reason why it must not.'),
    }),
});
