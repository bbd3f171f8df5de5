// GraphQL types for the replay of a run, and for links to it for people without an account.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import {
  epochMs,
  epochMsOrNull,
  float,
  int,
  members,
  string,
  stringOrNull,
  stringsOrNull,
  typed,
} from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { attemptBounds } from '../attempts/bounds.ts';
import { filterTime } from '../runs/bounds.ts';
import { RunStatus } from '../runs/schema-common.ts';
import { MissionStepType, RunMessageType } from '../runs/schema-steps.ts';
import { LiveFragment } from '../sandboxes/schema-parts.ts';
import { momentBounds, shareBounds } from './bounds.ts';
import { RunShare } from './model.ts';
import { type RunEvent, type RunMoment, runEventKinds } from './moment.ts';
import * as operations from './operations.ts';

const PlanItem = builder.objectRef<RunMoment['plan'][number]>('RunPlanItem').implement({
  description: 'A step of an agent’s plan.',
  fields: (t) =>
    members(t, { content: string('The step.'), status: string('Status of the step, as the harness names it.') }),
});

const RunMomentType = builder.objectRef<RunMoment>('RunMoment').implement({
  description: 'A run as it was at a given time.',
  fields: (t) =>
    members(t, {
      at: epochMs('The time at which the run was in this state.'),
      status: typed(RunStatus.type, 'Status of the run at the time `at`.'),
      costUsd: float('Cost of the run up to the time `at`, in US dollars.'),
      steps: typed(
        [MissionStepType],
        'The steps that existed at the time `at`, with the status that they had then. Costs and tokens are those of the whole step.',
        {
          complexity: { field: 1, multiplier: 50 },
        },
      ),
      messages: typed([RunMessageType], 'Messages and decisions of people up to the time `at`.', {
        complexity: { field: 1, multiplier: 100 },
      }),
      fragments: typed(
        [LiveFragment],
        `The newest ${momentBounds.fragments} thoughts, actions and messages up to the time \`at\`, in order.`,
        {
          complexity: { field: 1, multiplier: momentBounds.fragments },
        },
      ),
      plan: typed([PlanItem], 'The plan of the agent at the time `at`; empty if there was none yet.', {
        complexity: { field: 1, multiplier: 50 },
      }),
      log: string('The last output of the programs before the time `at`, at most 32,768 characters.', {
        complexity: weightOf(momentBounds.logCharacters),
      }),
      paths: stringsOrNull(
        'Paths of the files in the newest change that was pushed up to the time `at`; null if no change was pushed yet.',
        {
          complexity: { field: 1, multiplier: attemptBounds.paths },
        },
      ),
    }),
});

const EventKind = wordSet('RunEventKind', runEventKinds, 'Kind of an event of a run.', {
  start: 'The mission was started.',
  step: 'A step began or ended.',
  message: 'A person sent a message or made a decision.',
  plan: 'The agent changed its plan.',
  question: 'The agent asked a question.',
  error: 'The agent met an error.',
  artifact: 'A file was submitted.',
  end: 'The mission ended.',
});
const RunEventType = builder.objectRef<RunEvent>('RunEvent').implement({
  description: 'An event of a run, at a moment that `runMoment` can show.',
  fields: (t) =>
    members(t, {
      at: epochMs('When it happened.'),
      kind: typed(EventKind.type, 'Kind of the event.'),
      text: string('The event in a few words, at most 200 characters.'),
    }),
});

const RunShareType = builder.modelType(RunShare, 'RunShare').implement({
  description: 'A link that shows a run to people outside the organization, read-only and masked.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `shl_`.'),
      runId: string('The run.'),
      createdBy: string('Name of the person who created the link.'),
      createdAt: epochMs('When the link was created.'),
      expiresAt: epochMs('When the link expires; from then on it shows nothing.'),
      revokedAt: epochMsOrNull('When the link was revoked; null if it was not revoked.'),
      revokedBy: stringOrNull('Name of the person who revoked the link.'),
      uses: int('Number of times that somebody has opened the link.'),
      lastUsedAt: epochMsOrNull('When somebody last opened the link; null if nobody has opened it yet.'),
    }),
});
const RunEvents = builder.objectRef<{ data: RunEvent[] }>('RunEvents').implement({
  description: 'The events of a run.',
  fields: (t) =>
    members(t, {
      data: typed([RunEventType], 'The events, in chronological order.', {
        complexity: { field: 1, multiplier: momentBounds.events },
      }),
    }),
});
const RunShares = builder.objectRef<{ data: RunShare[] }>('RunShares').implement({
  description: 'The links to a run.',
  fields: (t) =>
    members(t, {
      data: typed([RunShareType], 'The links, oldest first.', {
        complexity: { field: 1, multiplier: shareBounds.perRun },
      }),
    }),
});
const CreatedShareType = builder.objectRef<operations.CreatedShare>('CreatedRunShare').implement({
  description: 'A new link, with its URL.',
  fields: (t) =>
    members(t, {
      share: typed(RunShareType, 'The link.'),
      address: string('The URL, which works without an account. It is shown once: only a digest is stored.'),
    }),
});

const runId = { ...pathId, description: 'The id of the run.' } as const;

builder.queryFields((t) => ({
  runMoment: t.field({
    description: 'A run as it was at a moment: plan, steps, messages, transcript, log, files and cost.',
    scope: 'sandboxes:read',
    type: RunMomentType,
    args: {
      runId: t.arg.string(runId),
      at: t.arg({
        type: 'EpochMs',
        description: 'The moment, not before the run was created; absent means now.',
        validate: { schema: z.number().int().min(filterTime.min).max(filterTime.max) },
      }),
    },
    resolve: (_, { runId, at }, { caller }) => operations.findMoment(caller, runId, at ?? null),
  }),
  runEvents: t.field({
    description: 'The newest 500 events of a run, in chronological order. A replay moves from one event to the next.',
    scope: 'sandboxes:read',
    type: RunEvents,
    args: { runId: t.arg.string(runId) },
    resolve: async (_, { runId }, { caller }) => ({ data: await operations.findEvents(caller, runId) }),
  }),
  runShares: t.field({
    description: 'The links to a run for people without an account, including expired and revoked ones, oldest first.',
    scope: 'missions:run',
    type: RunShares,
    args: { runId: t.arg.string(runId) },
    resolve: async (_, { runId }, { caller }) => ({ data: await operations.listShares(caller, runId) }),
  }),
}));

builder.mutationFields((t) => ({
  createRunShare: t.field({
    description:
      'Creates a link that shows a run to people outside the organization: read-only, without sign-in, with secrets and addresses masked, until it expires or is revoked.',
    scope: 'missions:run',
    type: CreatedShareType,
    args: {
      runId: t.arg.string(runId),
      days: t.arg.int({
        description: `Days until it expires: ${shareBounds.days.min} to ${shareBounds.days.max}; ${shareBounds.days.default} when absent.`,
        validate: { schema: z.int().min(shareBounds.days.min).max(shareBounds.days.max) },
      }),
    },
    resolve: (_, { runId, days }, { caller }) => operations.shareRun(caller, runId, days ?? shareBounds.days.default),
  }),
  revokeRunShare: t.field({
    description: 'Revokes a link to a run at once. Revoking it twice changes nothing.',
    scope: 'missions:run',
    type: RunShareType,
    args: { shareId: t.arg.string({ ...pathId, description: 'The id of the link.' }) },
    resolve: (_, { shareId }, { caller }) => operations.revokeShare(caller, shareId),
  }),
}));
