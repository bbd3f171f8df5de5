// The audit log in all APIs.
import { z } from 'zod';
import { actorTypes } from '#foundation/postgres/origin.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { epochMs, members, safeInt, string, stringOrNull, typed } from '#graph/members.ts';
import { orderArgument, pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { maxValueLength } from './changes.ts';
import type { AuditChange, AuditEvent } from './model.ts';
import * as operations from './operations.ts';

const ActorType = wordSet('AuditActorType', actorTypes, 'Kind of an actor.', {
  person: 'A person, in the console or with a personal access token.',
  application: 'An application that a person has authorized.',
  agent: 'An agent that registered itself and was claimed by a person.',
  service: 'A runtime.',
  system: 'The service itself: a job, or a schedule.',
  operator: 'A command of the operator of the service.',
  unknown: 'A caller who has not signed in, or a program that changed the database directly.',
});

const PersonalValues = wordSet(
  'AuditPersonalValues',
  ['readable', 'erased', 'altered'],
  'Whether the personal values of an event can be read: addresses, email addresses, names and browsers of people.',
  {
    readable: 'The values can be read, or the event has none.',
    erased: 'The person was erased: the values are null for good.',
    altered: 'The values were changed in the database by another program, so they are null.',
  },
);

const namesOf = toOne<operations.ActorName>(operations.namesOfActors, ({ id }) => id);

interface ActorOf {
  type: AuditEvent['actorType'];
  id: string | null;
  isNameless: boolean;
}
const Actor = builder.objectRef<ActorOf>('AuditActor').implement({
  description: 'The actor of a change.',
  fields: (t) =>
    members(t, {
      type: typed(ActorType.type, 'Kind of the actor.'),
      id: stringOrNull('The id of the person. For any other actor, the id of its credential, or null if it has none.'),
      name: t.string({
        nullable: true,
        description: 'The present name; null for an actor that has none, was erased, or no longer exists.',
        resolve: async ({ id, isNameless }, _, context) =>
          id === null || isNameless ? null : ((await namesOf(context).load(id))?.name ?? null),
      }),
    }),
});
interface TargetOf {
  type: string;
  id: string;
  name: string | null;
  isNameless: boolean;
}
const Target = builder.objectRef<TargetOf>('AuditTarget').implement({
  description: 'A record that a change concerns.',
  fields: (t) =>
    members(t, {
      type: string(
        'The kind of record. For the record that was changed, this is the first part of `action`; for ' +
          'the mission to which that record belongs, it is `run`.',
      ),
      id: string('The id of the record. If several values identify it, they are joined by colons.'),
      name: t.string({
        nullable: true,
        description:
          'The name of the record after the change, or before its deletion; for a member, the present name. Null for a record without a name, and for an erased person.',
        resolve: async ({ id, name, isNameless }, _, context) =>
          name ?? (id.startsWith('usr_') && !isNameless ? ((await namesOf(context).load(id))?.name ?? null) : null),
      }),
    }),
});
const valueNote = `A text is cut after ${maxValueLength} characters, and the value of a secret is \`[secret]\`.`;
const Change = builder.objectRef<AuditChange>('AuditChange').implement({
  description: 'A value that was changed.',
  fields: (t) =>
    members(t, {
      path: string('The name of the value in the record.'),
      before: t.field({
        type: 'Json',
        nullable: true,
        description: `The value before the change; null for a new record. ${valueNote}`,
        resolve: ({ before }) => before,
      }),
      after: t.field({
        type: 'Json',
        nullable: true,
        description: `The value after the change; null for a deleted record. ${valueNote}`,
        resolve: ({ after }) => after,
      }),
    }),
});

const EventType = builder.objectRef<operations.OpenedEvent>('AuditEvent').implement({
  description: 'A change of a record, as one entry of the audit log of an organization.',
  fields: (t) =>
    members(t, {
      number: safeInt(
        'The position in the log: 1 for the first event, without gaps. A later number never appears before an earlier one.',
      ),
      occurredAt: epochMs('When the transaction of the change began.'),
      recordedAt: t.field({
        type: 'EpochMs',
        description: 'When the event got its number, at most a few seconds after the change.',
        resolve: ({ createdAt }) => createdAt,
      }),
      action: string(
        'The action: the kind of record and a verb, such as `project.created`, `member.removed` or `run.completed`.',
      ),
      actor: t.field({
        type: Actor,
        description: 'The actor of the change.',
        resolve: ({ actorType: type, actorId: id, nameless }) => ({ type, id, isNameless: nameless.has(id ?? '') }),
      }),
      onBehalfOf: t.field({
        type: Actor,
        nullable: true,
        description: 'The person for whom an application or an agent acted; null otherwise.',
        resolve: ({ onBehalfOf: id, nameless }) =>
          id === null ? null : { type: 'person' as const, id, isNameless: nameless.has(id) },
      }),
      credentialId: stringOrNull('The id of the session, token or registration that was used; null without one.'),
      surface: stringOrNull(
        'Where the request arrived: `rest`, `graphql`, `mcp`, `a2a`, `oauth`, `console`, a job or a command; null if unknown.',
      ),
      operation: stringOrNull('The root field, route, job or command that made the change; null if unknown.'),
      requestId: stringOrNull('The id of the request, as in `X-Request-Id`; null for a change without a request.'),
      traceId: stringOrNull(
        'The trace of the request or job (W3C Trace Context), in the collector of the operator; null for a change without a trace.',
      ),
      sourceAddress: stringOrNull(
        'The network address of the client; null for a change without a request, and for an erased person.',
      ),
      projectId: stringOrNull('The project of the record; null for a record of the organization.'),
      targets: t.field({
        type: [Target],
        description: 'The changed record, and the mission that it belongs to.',
        resolve: targetsOf,
      }),
      changes: typed([Change], 'The values that were changed; for a new or deleted record, all of its values.'),
      personalValues: typed(PersonalValues.type, 'Whether the personal values can be read.'),
    }),
});
const targetsOf = ({ targetType, targetId, targetName, subjectId, nameless }: operations.OpenedEvent) => [
  { type: targetType, id: targetId, name: targetName, isNameless: nameless.has(targetId) },
  ...(subjectId === targetId ? [] : [{ type: 'run', id: subjectId, name: null, isNameless: false }]),
];
const EventPage = pageOf('AuditEventPage', EventType);

const word = { validate: { schema: boundedText(text.pathId) } } as const;
const time = {
  type: 'EpochMs',
  validate: {
    schema: z
      .int()
      .min(0)
      .max(Date.UTC(9999, 11, 31)),
  },
} as const;

builder.queryField('auditEvents', (t) =>
  t.field({
    description:
      'The audit log of the organization, newest first: who changed what, when, with which credential and from where. It contains every ' +
      'change that was committed before the request.',
    scope: 'audit:read',
    rest: 'GET /audit-events',
    tool: 'list_audit_events',
    type: EventPage,
    args: {
      actorId: t.arg.string({ ...word, description: 'Only changes by this actor, or on behalf of this person.' }),
      action: t.arg.string({ ...word, description: 'Only this action, such as `member.removed`.' }),
      targetType: t.arg.string({ ...word, description: 'Only actions on this kind of record, such as `member`.' }),
      targetId: t.arg.string({
        ...word,
        description:
          'Only changes of the record with this id. For a run, also changes of all records that belong to it.',
      }),
      projectId: t.arg.string({ ...word, description: 'Only changes of this project and of its records.' }),
      occurredFrom: t.arg({ ...time, description: 'Only changes at this time or later; the year is at most 9999.' }),
      occurredBefore: t.arg({ ...time, description: 'Only changes before this time; the year is at most 9999.' }),
      after: t.arg({
        type: 'SafeInt',
        validate: { schema: z.int().min(0) },
        description:
          'Only events with a larger number than this. If `order` is `oldest`, the list begins with the next event.',
      }),
      ...pageArguments(pages.other),
      ...orderArgument(),
    },
    resolve: (_, args, { caller }) => operations.listEvents(caller, args),
  }),
);
