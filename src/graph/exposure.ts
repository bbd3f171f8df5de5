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
   * Name of the record that describes the body of the request. The members of the record are the arguments of the field, except the
   * arguments in the path of the route. If `body` is absent, the argument `input` is the body of the request.
   */
  body?: string;
  /** Whether the cursor of the next page is in a `Link` header (RFC 8288), because the body has no member for it. */
  linksNext?: true;
  /** A `Link` header of the response (RFC 8288): its description, and the function that writes it from the returned record. */
  link?: { description: string; of(record: never): string };
  /** Error statuses in addition to those of every route, for the OpenAPI document. */
  errors?: number[];
  /**
   * Names of the arguments that the REST route does not accept, because the contract does not list these arguments for the route. GraphQL
   * and tools accept the arguments.
   */
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
  /**
   * Whether the tool starts a run. Its result is then the new run, or contains the `runId` and the `status` of the new run, so that a
   * client may follow the run.
   */
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
  /**
   * The MCP tool of the field: its name or, if the default annotations are wrong, an object with the name and the annotations. The defaults
   * say that a call only adds something inside this service.
   */
  tool?: string | ToolExposure;
  /**
   * Whether a mutation is urgent. GraphQL executes an urgent mutation before the other operations of its caller, and even if the caller has
   * used up the rate limit.
   */
  urgent?: true;
}

export interface MemberOptions {
  /** A relation: the scope required to follow it. Only in the graph: REST and tools return a record without its relations. */
  link?: Rule;
  /** Whether the member exists only in GraphQL, where every reader of the record may read it. REST and tools omit the member. */
  graphOnly?: true;
  /** Whether the member exists only in GraphQL and in tools. REST omits it, because the record has no such member in the contract. */
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
    // A subscription has no check here: its caller is checked when the subscription is opened, and again whenever the API looks up the
    // caller.
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

/**
 * Wraps the resolver of a mutation. The audit log then records each change that the mutation makes, in every API, with the caller and the
 * name of the mutation.
 */
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

/** Wraps the resolver of a query or subscription. If the resolver refuses the request, the audit log records the refusal. */
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

/** Returns the scope, route and tool that a root field of the built schema was declared with. */
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
