// MCP servers in sandboxes, for the runtime that holds a run.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, members, string, stringOrNull, strings, typed } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { ReportAcknowledgement } from '../runtime/schema-answers.ts';
import { ofRun, sha256 } from '../runtime/schema-runs.ts';
import type { RunMcpCommand, UsableTools } from './sandbox.ts';
import * as operations from './sandbox.ts';
import { CallOutcome } from './schema-calls.ts';

/** Limits of reports: texts in characters, and the duration of a call. */
const limits = { tools: 1_000_000, error: 500, integrity: 200, durationMs: 24 * 60 * 60_000 } as const;

const Value = builder.objectRef<RunMcpCommand['env'][number]>('RunMcpValue').implement({
  description: 'A variable of an MCP server, or the value of a secret.',
  fields: (t) =>
    members(t, {
      name: string('Name of the server in the config file.'),
      value: string('The value, possibly of several lines.'),
    }),
});

const RunCommand = builder.objectRef<RunMcpCommand>('RunMcpCommand').implement({
  description: 'An MCP server that the runtime starts next to the agent of a run, in its sandbox.',
  fields: (t) =>
    members(t, {
      serverName: string('Name of the server in the config file.'),
      packages: strings(
        'npm packages to install, each `name@version`; empty means the server is a file of the repository.',
      ),
      program: stringOrNull(
        'A program of the packages, or `node`. Null means the only program, or the one with the name of the first package.',
      ),
      args: strings('Arguments as declared, with `${secret:NAME}` as written.'),
      env: typed([Value], 'Variables as declared, with `${secret:NAME}` as written.'),
      credentials: typed(
        [Value],
        'Values of the secrets that the binding has. The environment of the step has the values of other secrets.',
      ),
      packageIntegrity: stringOrNull(
        'Checksum that the first package must have, as in lock files of npm; null means any.',
      ),
      refusal: stringOrNull('Reason why the server must not be started; null when it may be.'),
    }),
});

const RunTools = builder.objectRef<UsableTools>('RunMcpTools').implement({
  description: 'The tools that the agent of a run may use.',
  fields: (t) =>
    members(t, {
      tools: strings('Names of the tools that a person has approved and that have not changed since.'),
      refusal: stringOrNull('Reason why the agent may use no tool of the server; null when it may.'),
    }),
});

const Admission = builder.objectRef<{ needsPerson: boolean }>('McpCallAdmission').implement({
  description: 'Decision whether a call may be made.',
  fields: (t) =>
    members(t, {
      needsPerson: boolean(
        'Whether a person has to decide first. If so, the runtime asks the person, as for a remote server, and then repeats this request.',
      ),
    }),
});

const tool = boundedText(text.mcpToolName).describe('The server’s name for the tool.');
const ofServer = {
  ...ofRun,
  serverName: boundedText(text.mcpServerName).describe('The `serverName` that `runMcpCommands` has returned.'),
};

const ReportMcpToolsRequest = request(
  'ReportMcpToolsRequest',
  z
    .object({
      ...ofServer,
      packageIntegrity: boundedText({ min: 1, max: limits.integrity })
        .nullish()
        .describe('Checksum of the first package, as in lock files of npm; absent for a file of the repository.'),
      tools: boundedText({ min: 2, max: limits.tools })
        .nullish()
        .describe('The list of tools as JSON; absent if `error` is present.'),
      error: boundedText({ min: 1, max: limits.error })
        .nullish()
        .describe('Why the server was not started; absent when it was.'),
    })
    .describe('The tools of a server that was started, or why it was not.'),
);

const AdmitMcpCallRequest = request(
  'AdmitMcpCallRequest',
  z
    .object({
      ...ofServer,
      tool,
      arguments: boundedText(text.fragmentBody)
        .nullish()
        .describe('The arguments as JSON, exactly as the person saw them; absent if no question was asked.'),
      questionId: boundedText(text.fragmentWord)
        .nullish()
        .describe('`toolUseId` of the question that a person has approved; absent means none was asked.'),
    })
    .describe('A call that the agent of a run wants to make.'),
);

const ReportMcpCallRequest = request(
  'ReportMcpCallRequest',
  z
    .object({
      ...ofServer,
      tool,
      outcome: CallOutcome.zod.describe('The outcome of the call.'),
      durationMs: z.int().min(0).max(limits.durationMs).describe('Milliseconds from its start to its end.'),
      argumentsSha256: sha256.nullish().describe('SHA-256 of the arguments as JSON, hexadecimal.'),
      resultSha256: sha256.nullish().describe('SHA-256 of the result as JSON; absent without one.'),
    })
    .describe('A call that was made.'),
);

const scope = 'runtime:report';

builder.queryField('runMcpCommands', (t) =>
  t.field({
    description: 'The MCP servers that the runtime starts in the sandbox of a run, next to its agent.',
    scope,
    type: [RunCommand],
    args: { runId: t.arg.string(pathId), leaseId: t.arg.string(pathId) },
    resolve: (_, hold, { caller }) => operations.commandsOfRun(caller, hold),
  }),
);

builder.mutationFields((t) => ({
  reportMcpTools: t.field({
    description: 'Records the tools of an MCP server in a sandbox, for the review by people.',
    scope,
    type: RunTools,
    args: { input: t.arg({ type: ReportMcpToolsRequest, required: true, description: 'The tools.' }) },
    resolve: (_, { input }, { caller }) => operations.reportTools(caller, input),
  }),
  admitMcpCall: t.field({
    description:
      'Asks whether the agent may call a tool of an MCP server in its sandbox. An approval counts for one call.',
    scope,
    type: Admission,
    args: { input: t.arg({ type: AdmitMcpCallRequest, required: true, description: 'The call.' }) },
    resolve: (_, { input }, { caller }) => operations.admitSandboxCall(caller, input),
  }),
  reportMcpCall: t.field({
    description: 'Records a call of a tool of an MCP server in a sandbox.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: ReportMcpCallRequest, required: true, description: 'The call.' }) },
    resolve: (_, { input }, { caller }) => operations.reportSandboxCall(caller, input),
  }),
}));
