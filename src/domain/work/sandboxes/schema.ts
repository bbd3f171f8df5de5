// Sandboxes in all APIs (docs/contract.md#sandboxes).
import { z } from 'zod';
import { isoTime } from '#foundation/clock.ts';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { filter, pathId } from '#graph/input.ts';
import {
  belongsTo,
  epochMs,
  epochMsOrNull,
  float,
  floatOrNull,
  members,
  string,
  stringOrNull,
  typed,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, previewSizes, text } from '#limits.ts';
import { AgentRole, Harness } from '../../projects/agents/schema-catalog.ts';
import { InstanceType } from '../../projects/instance-types/schema.ts';
import { ProjectType } from '../../projects/projects/schema.ts';
import { listFragments, fragmentsOf as newestFragmentsOf } from './fragments.ts';
import { readLog } from './log.ts';
import { Sandbox, type SandboxFragment, sandboxStatuses } from './model.ts';
import * as operations from './operations.ts';
import { LiveFragment, LogPart, SandboxLogType, SandboxMetric } from './schema-parts.ts';

const SandboxStatus = wordSet('SandboxStatus', sandboxStatuses, 'Status of a sandbox; `stale`: no heartbeats.', {
  running: 'The sandbox sent a heartbeat within the last 2 minutes.',
  stale: 'A running sandbox has sent no heartbeat for 2 minutes; after 10 minutes it fails.',
  destroyed: 'The sandbox was killed, its run was canceled, or its time limit passed.',
  completed: 'The agent of the sandbox finished.',
  failed: 'The sandbox ended before its agent finished, or stopped sending heartbeats.',
});

const metricsIn = (points: number) =>
  toMany<operations.MetricPoint>(
    (ids) => operations.metricsOf(ids, points),
    ({ sandboxId }) => sandboxId,
  );
const [sparklineOf, metricsOf] = [metricsIn(previewSizes.sparkline), metricsIn(previewSizes.metrics)];

const SandboxSession = builder.objectRef<operations.SessionRecord>('SandboxSession').implement({
  description: 'One conversation of a role with its model.',
  fields: (t) =>
    members(t, {
      role: typed(AgentRole.type, 'The role of the agent.'),
      sessionId: string('An id, unique within the sandbox and role.'),
      ts: t.field({ type: 'IsoTime', description: 'Start time.', resolve: ({ startedAt }) => isoTime(startedAt) }),
      outcome: stringOrNull('Outcome; null while the session is open.'),
      logKey: stringOrNull('Name of the log; null while the log is empty.'),
      systemKey: stringOrNull('Name of the system log; null without one.'),
      totalCostUsd: float('Model costs so far, US dollars.'),
    }),
});
const sessionsOf = toMany<operations.SessionRecord>(operations.sessionsOf, ({ sandboxId }) => sandboxId);

export const SandboxType = builder.modelType(Sandbox, 'Sandbox').implement({
  description: 'The container that an agent works in.',
  fields: (t) =>
    members(t, {
      sandboxId: t.exposeString('id', { description: 'The id, which starts with `sbx_`.' }),
      issueId: stringOrNull('The issue that is worked on.'),
      projectId: string('The id of the project; starts with `prj_`.'),
      role: typed(AgentRole.type, 'The role of the agent.'),
      harness: typed(Harness.type, 'The program that drives the model.'),
      harnessVersion: stringOrNull('The version that the harness reported; null when unknown.'),
      runId: stringOrNull('The run that the sandbox belongs to.'),
      status: typed(
        SandboxStatus.type,
        'Status of the sandbox; `stale` when it is running but has stopped sending heartbeats.',
      ),
      terminationReason: stringOrNull('Reason why the sandbox ended, such as `killed`.'),
      instanceType: typed(InstanceType.type, 'The size of the sandbox.'),
      createdAt: epochMs('When the runtime registered the sandbox.'),
      timeoutAt: epochMsOrNull('Deadline at which a running sandbox is ended; null without a timeout.'),
      lastHeartbeatAt: epochMs('Time of the last heartbeat.'),
      destroyedAt: epochMsOrNull('When the sandbox ended; null while it runs.'),
      lastCpuPct: floatOrNull('CPU use at the last sample in percent; null before the first sample.'),
      lastMemUsedMb: floatOrNull('Memory in use at the last sample, MiB.'),
      lastMemTotalMb: floatOrNull('Memory available at the last sample, MiB.'),
      lastDiskUsedPct: floatOrNull('Disk use at the last sample in percent of the mission’s limit.'),
      lastMetricAt: epochMsOrNull('Time of the last sample; null before the first.'),
      logsDeletedAt: epochMsOrNull(
        'When logs and fragments were deleted after the organization’s retention period; null while they are kept.',
        { graphOnly: true },
      ),
      project: belongsTo('projects:read', 'The project; null when the caller is not allowed to read projects.'),
      sessions: t.field({
        graphOnly: true,
        description: 'The sessions of the sandbox, oldest first.',
        type: [SandboxSession],
        resolve: ({ id }, _args, context) => sessionsOf(context).load(id),
      }),
      sparkline: t.field({
        description: 'The metrics in at most 60 points.',
        graphOnly: true,
        type: [SandboxMetric],
        complexity: { field: 1, multiplier: previewSizes.sparkline },
        resolve: ({ id }, _args, context) => sparklineOf(context).load(id),
      }),
    }),
});

builder.objectField(ProjectType, 'sandboxes', (t) =>
  t.hasMany('sandboxes', {
    description: `The newest ${previewSizes.perParent} sandboxes; the query of the same name pages through all.`,
    link: 'sandboxes:read',
    limit: previewSizes.perParent,
  }),
);

const fragmentsOf = toMany<SandboxFragment>(newestFragmentsOf, ({ sandboxId }) => sandboxId);

const FragmentPage = pageOf('SandboxFragmentPage', LiveFragment);

const SandboxDetail = builder.objectRef<Sandbox>('SandboxDetail').implement({
  description: 'A sandbox with its metrics, sessions and fragments.',
  fields: (t) => ({
    sandbox: t.field({ type: SandboxType, resolve: (sandbox) => sandbox, description: 'The sandbox.' }),
    metrics: t.field({
      description: 'Metrics of the whole lifetime of the sandbox, oldest first, in at most 240 points.',
      type: [SandboxMetric],
      complexity: { field: 1, multiplier: previewSizes.metrics },
      resolve: ({ id }, _args, context) => metricsOf(context).load(id),
    }),
    sessions: t.field({
      description: 'The sessions, oldest first.',
      type: [SandboxSession],
      resolve: ({ id }, _args, context) => sessionsOf(context).load(id),
    }),
    liveFragments: t.field({
      description: 'The last 200 fragments, the newest last; in GraphQL `fragments` pages through all.',
      type: [LiveFragment],
      complexity: { field: 1, multiplier: previewSizes.fragments },
      resolve: ({ id }, _args, context) => fragmentsOf(context).load(id),
    }),
    fragments: t.field({
      graphOnly: true,
      description:
        'All fragments of the agent’s work, in pages: the newest page first, each page ordered with the newest last.',
      type: FragmentPage,
      args: pageArguments(pages.fragments),
      complexity: ({ limit }) => ({ field: 1, multiplier: limit }),
      resolve: ({ id }, page) => listFragments(id, page),
    }),
  }),
});

const SandboxPage = pageOf('SandboxPage', SandboxType);
const KillSandboxResponse = builder.objectRef<{ ok: true; sandboxId: string }>('KillSandboxResponse').implement({
  description: 'Confirms that the sandbox has been killed.',
  fields: (t) =>
    members(t, {
      ok: typed('True', 'Confirms the kill, even of a sandbox that was already destroyed.'),
      sandboxId: string('The id of the sandbox; starts with `sbx_`.'),
    }),
});

builder.queryFields((t) => ({
  sandboxes: t.field({
    description: 'The sandboxes of the organization, newest first.',
    scope: 'sandboxes:read',
    rest: 'GET /sandboxes',
    tool: 'list_sandboxes',
    type: SandboxPage,
    args: {
      projectId: t.arg.string(filter),
      status: t.arg({ type: SandboxStatus.type, description: 'Only sandboxes in this status; absent means all.' }),
      ...pageArguments(pages.sandboxes),
    },
    resolve: (_, args, { caller }) => operations.listSandboxes(caller, args),
  }),
  sandbox: t.field({
    description: 'One sandbox with its metrics, its sessions and the newest fragments of the agent’s work.',
    scope: 'sandboxes:read',
    rest: 'GET /sandboxes/{sandboxId}',
    tool: 'get_sandbox',
    type: SandboxDetail,
    args: { sandboxId: t.arg.string(pathId) },
    resolve: (_, { sandboxId }, { caller }) => operations.findSandbox(caller, sandboxId),
  }),
  sandboxLog: t.field({
    description: 'A log of one session in a sandbox: the newest piece, or an older one.',
    scope: 'sandboxes:read',
    rest: { route: 'GET /sandboxes/{sandboxId}/logs', linksNext: true, errors: [502] },
    tool: 'get_sandbox_log',
    type: SandboxLogType,
    args: {
      sandboxId: t.arg.string(pathId),
      role: t.arg({ type: AgentRole.type, required: true, description: 'The role of the session’s agent.' }),
      sessionId: t.arg.string({
        required: true,
        description: 'The `sessionId` of one of the sandbox’s sessions.',
        validate: { schema: boundedText(text.sessionId) },
      }),
      part: t.arg({
        type: LogPart.type,
        required: true,
        defaultValue: 'session',
        description: 'The log of the session to read.',
      }),
      cursor: t.arg.string({
        description:
          'Cursor of an older piece: the `cursor` of the `Link` header with `rel="next"` (GraphQL, MCP: `nextCursor`).',
        validate: { schema: boundedText(text.cursor) },
      }),
      after: t.arg({
        type: 'SafeInt',
        description:
          'Number of bytes to skip at the beginning of the log. If you send the `bytes` of the last response, you get only what was ' +
          'added to the log since then. When you send `cursor` to get an older piece, repeat the `after` of the first request. Absent ' +
          'means the whole log.',
        validate: { schema: z.int().min(0) },
      }),
    },
    resolve: async (_, args, context) => {
      const log = await readLog(context.caller, args);
      context.nextCursor = log.nextCursor;
      return log;
    },
  }),
}));

builder.mutationField('killSandbox', (t) =>
  t.field({
    description: 'Ends a running sandbox at once. Killing it twice changes nothing.',
    scope: 'sandboxes:write',
    rest: { route: 'POST /sandboxes/{sandboxId}/kill', errors: [409] },
    tool: { name: 'kill_sandbox', destructive: true, idempotent: true },
    type: KillSandboxResponse,
    args: { sandboxId: t.arg.string(pathId) },
    resolve: (_, { sandboxId }, { caller }) => operations.killSandbox(caller, sandboxId),
  }),
);
