// The options with which a field declares how each API exposes it: `scope`, `rest` and `tool` on root fields, `link`, `graphOnly`,
// `beyondRest` and `absent` on the fields of a record. A root field without a scope is an error.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { admit, noteRefusal, type Rule } from '#access/gate.ts';
import { originOfChanges } from '#access/origin.ts';
import { carryOrigin } from '#foundation/postgres/database.ts';
import { withOrigin } from '#foundation/postgres/origin.ts';
import { requireWritable } from '#foundation/read-only.ts';
import type { Context } from './context.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Route = `${Method} /${string}`;

/** The route of a root field below `/v1`, with path parameters as in the contract: `{projectId}`. */
export interface RestExposure {
  route: Route;
  /** Status of success; 200 by default. */
  status?: number;
  /**
   * Name of the request record whose members are the arguments other than those of the path; without it, the argument `input` is the
   * body.
   */
  body?: string;
  /** Whether the cursor of the next page is in a `Link` header (RFC 8288), because the body has no member for it. */
  linksNext?: true;
  /** A `Link` header of the response (RFC 8288): its description, and the function that writes it from the returned record. */
  link?: { description: string; of(record: never): string };
  /** Error statuses in addition to those of every route, for the OpenAPI document. */
  errors?: number[];
  /** Arguments only in GraphQL and in tools, because the contract specifies the arguments of the route. */
  without?: readonly string[];
}

/** The annotations of a tool (MCP 2025-11-25, ToolAnnotations). */
export interface ToolExposure {
  /** The name in snake_case. */
  name: string;
  /** Whether a call may end or delete something. */
  destructive?: boolean;
  /** Whether a second call with the same arguments changes nothing more. */
  idempotent?: boolean;
  /** Whether a call reaches systems outside this service: trackers, mail. */
  openWorld?: boolean;
  /** Whether the result is a new run, or its `runId` and `status`, which a client may follow. */
  startsRun?: boolean;
}

export interface RootExposure {
  scope: Rule;
  rest?: RestExposure;
  tool?: ToolExposure;
  urgent?: true;
}

interface RootOptions {
  /** The required authority, checked before the resolver in every API. */
  scope: Rule;
  /** The route in the REST API. Absent means no route. */
  rest?: Route | RestExposure;
  /** The name as an MCP tool, with annotations if the defaults (an addition inside this service) are wrong. */
  tool?: string | ToolExposure;
  /**
   * Whether a mutation is urgent: GraphQL executes it before other operations of its caller, and also when they have used up the rate limit
   * of the caller.
   */
  urgent?: true;
}

export interface MemberOptions {
  /** A relation: the scope required to follow it. Only in the graph: REST and tools return a record without its relations. */
  link?: Rule;
  /** Whether only the graph has the member, for every reader of the record; REST and tools omit it. */
  graphOnly?: true;
  /** Whether only the graph and tools have the member, because the record of the contract lacks it. */
  beyondRest?: true;
  /** Optional in REST: the member is omitted when GraphQL returns null. */
  absent?: true;
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      exposure: ExposurePlugin<Types>;
    }
    // biome-ignore-start lint/correctness/noUnusedVariables: an augmentation repeats the parameters it augments
    interface QueryFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> extends RootOptions {}
    interface MutationFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> extends RootOptions {}
    interface SubscriptionFieldOptions<Types, Type, Nullable, Args, ResolveShape, ResolveReturnShape>
      extends Pick<RootOptions, 'scope'> {}
    interface ObjectFieldOptions<Types, ParentShape, Type, Nullable, Args, ResolveReturnShape> extends MemberOptions {}
    // biome-ignore-end lint/correctness/noUnusedVariables: see above
  }
}

const roots = new Set(['Query', 'Mutation', 'Subscription']);

class ExposurePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const options = optionsOf(field);
    if (roots.has(field.kind)) {
      if (!options.scope) throw new Error(`${field.parentType}.${field.name} declares no scope`);
      const rest = typeof options.rest === 'string' ? { route: options.rest } : options.rest;
      const tool = typeof options.tool === 'string' ? { name: options.tool } : options.tool;
      const { scope, urgent } = options;
      const exposure: RootExposure = { scope, ...(rest && { rest }), ...(tool && { tool }), ...(urgent && { urgent }) };
      const resolve =
        field.kind === 'Mutation' ? audited(field.name, field.resolve!) : noting(field.name, field.resolve!);
      return { ...field, resolve, extensions: { ...field.extensions, exposure, resolveAdmitted: resolve } };
    }
    const { link, graphOnly, absent, beyondRest } = options;
    const declared = Object.entries({ link, graphOnly, absent, beyondRest }).filter(([, value]) => value);
    return { ...field, extensions: { ...field.extensions, ...Object.fromEntries(declared) } };
  }

  override wrapResolve(resolver: Resolver<Types>, field: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const { scope, link } = optionsOf(field);
    const rule = roots.has(field.kind) ? scope : link;
    // A subscription admits its caller when it is opened, and again whenever the API looks up the caller.
    return !rule || field.kind === 'Subscription' ? resolver : admitting(rule, field, resolver);
  }

  override wrapSubscribe(subscribe: Resolver<Types> | undefined, field: PothosOutputFieldConfig<Types>) {
    const { scope } = optionsOf(field);
    return subscribe && scope ? admitting(scope, field, noting(field.name, subscribe)) : subscribe;
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

const admitting =
  <Types extends SchemaTypes>(
    rule: Rule,
    { name, kind, parentType }: PothosOutputFieldConfig<Types>,
    resolver: Resolver<Types>,
  ): Resolver<Types> =>
  (parent, args, context, info) => {
    admit((context as Context).caller, rule, roots.has(kind) ? name : `${parentType}.${name}`);
    return resolver(parent, args, context, info);
  };

/** The audit log records each change of a mutation with the caller and the name of the mutation, in every API. */
const audited =
  <Types extends SchemaTypes>(name: string, resolver: Resolver<Types>): Resolver<Types> =>
  (parent, args, context, info) => {
    const { caller } = context as Context;
    return withOrigin(
      () => originOfChanges(caller, caller.source, name),
      // `carryOrigin` is for calls with an Idempotency-Key, whose transaction has already begun.
      async () => {
        requireWritable();
        await carryOrigin();
        try {
          return await resolver(parent, args, context, info);
        } catch (error) {
          noteRefusal(caller, error, name);
          throw error;
        }
      },
    );
  };

/** Refusals by the resolver of a query or subscription are recorded in the audit log, too. */
const noting =
  <Types extends SchemaTypes>(name: string, resolver: Resolver<Types>): Resolver<Types> =>
  (parent, args, context, info) => {
    const note = (error: unknown): never => {
      noteRefusal((context as Context).caller, error, name);
      throw error;
    };
    try {
      const result = resolver(parent, args, context, info);
      return result instanceof Promise ? result.catch(note) : result;
    } catch (error) {
      return note(error);
    }
  };

const optionsOf = (field: { pothosOptions: unknown }) => field.pothosOptions as Partial<RootOptions> & MemberOptions;

SchemaBuilder.registerPlugin('exposure', ExposurePlugin);

/** The exposure that a root field of a built schema declared. */
export const exposureOf = (field: { extensions: object }): RootExposure =>
  (field.extensions as { exposure: RootExposure }).exposure;
/** The field's own resolver, for an admitted caller and validated arguments. */
export const resolverOf = <T>(field: { extensions: object }): GraphQLFieldResolver<unknown, T> =>
  (field.extensions as { resolveAdmitted: GraphQLFieldResolver<unknown, T> }).resolveAdmitted;
export const isGraphOnly = ({ extensions }: { extensions: object }): boolean =>
  'link' in extensions || 'graphOnly' in extensions;
export const isBeyondRest = (field: { extensions: object }): boolean =>
  isGraphOnly(field) || 'beyondRest' in field.extensions;
export const isAbsentWhenNull = (field: { extensions: object }): boolean => 'absent' in field.extensions;
