// The words with which a field declares its whole truth, once, for every surface: `scope`, `rest`, `tool` on root fields,
// `link` and `absent` on the fields of a record. Nothing that says nothing is reachable.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import type { GraphQLFieldResolver } from 'graphql';
import { admit, type Rule } from '#access/gate.ts';
import type { Context } from './context.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Route = `${Method} /${string}`;

/** How a root field stands in `/v1`. Path parameters are written as the specification writes them: `{projectId}`. */
export interface RestExposure {
  route: Route;
  /** Status of success, 200 unless said otherwise. */
  status?: number;
  /** Whether a cursor of the next page comes in a `Link` header (RFC 8288): its body has no member for it. */
  linksNext?: true;
  /** Statuses beyond those that every route can answer, for the OpenAPI document. */
  errors?: number[];
}

/** What a client may know of a tool before it calls it (MCP 2025-11-25, ToolAnnotations). */
export interface ToolExposure {
  /** In snake_case. */
  name: string;
  /** Whether a call may end or delete something. */
  destructive?: boolean;
  /** Whether a second call with the same arguments changes nothing more. */
  idempotent?: boolean;
  /** Whether a call reaches systems outside this service: trackers, mail. */
  openWorld?: boolean;
}

export interface RootExposure {
  scope: Rule;
  rest?: RestExposure;
  tool?: ToolExposure;
}

interface RootWords {
  /** Who may ask: checked before the resolver, whatever the surface. */
  scope: Rule;
  /** Its place in the REST API. Without it there is no route. */
  rest?: Route | RestExposure;
  /** Its name as an MCP tool; for a mutation that is more than an addition inside this service, with what else is true of it. */
  tool?: string | ToolExposure;
}

interface ObjectWords {
  /** A relation: in the graph only, never in REST. The scope it takes to follow it, or `open` when the parent's suffices. */
  link?: Rule | 'open';
  /** Optional in REST: the key is left out when there is nothing to say (GraphQL answers null). */
  absent?: true;
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      exposure: ExposurePlugin<Types>;
    }
    // biome-ignore-start lint/correctness/noUnusedVariables: an augmentation repeats the parameters it augments
    interface QueryFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> extends RootWords {}
    interface MutationFieldOptions<Types, Type, Nullable, Args, ResolveReturnShape> extends RootWords {}
    interface SubscriptionFieldOptions<Types, Type, Nullable, Args, ResolveShape, ResolveReturnShape>
      extends Pick<RootWords, 'scope'> {}
    interface ObjectFieldOptions<Types, ParentShape, Type, Nullable, Args, ResolveReturnShape> extends ObjectWords {}
    // biome-ignore-end lint/correctness/noUnusedVariables: see above
  }
}

const roots = new Set(['Query', 'Mutation', 'Subscription']);

class ExposurePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const words = field.pothosOptions as unknown as Partial<RootWords> & ObjectWords;
    if (roots.has(field.kind)) {
      if (!words.scope) throw new Error(`${field.parentType}.${field.name} says no scope: silence is refusal`);
      const rest = typeof words.rest === 'string' ? { route: words.rest } : words.rest;
      const tool = typeof words.tool === 'string' ? { name: words.tool } : words.tool;
      const exposure: RootExposure = { scope: words.scope, ...(rest && { rest }), ...(tool && { tool }) };
      return { ...field, extensions: { ...field.extensions, exposure } };
    }
    const { link, absent } = words;
    return { ...field, extensions: { ...field.extensions, ...(link && { link }), ...(absent && { absent }) } };
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const words = field.pothosOptions as unknown as Partial<RootWords> & ObjectWords;
    const rule = roots.has(field.kind) ? words.scope : words.link;
    // A subscription is admitted when it is opened, and again by its surface whenever that looks up the caller.
    if (!rule || rule === 'open' || field.kind === 'Subscription') return resolver;
    return (parent, args, context, info) => {
      admit((context as Context).caller, rule);
      return resolver(parent, args, context, info);
    };
  }

  override wrapSubscribe(
    subscribe: GraphQLFieldResolver<unknown, Types['Context'], object> | undefined,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> | undefined {
    const { scope } = field.pothosOptions as unknown as Partial<RootWords>;
    if (!subscribe || !scope) return subscribe;
    return (parent, args, context, info) => {
      admit((context as Context).caller, scope);
      return subscribe(parent, args, context, info);
    };
  }
}

SchemaBuilder.registerPlugin('exposure', ExposurePlugin);

/** What a root field of a built schema declared. */
export const exposureOf = (field: { extensions: object }): RootExposure =>
  (field.extensions as { exposure: RootExposure }).exposure;
export const isLink = (field: { extensions: object }): boolean => 'link' in field.extensions;
export const isAbsentWhenNull = (field: { extensions: object }): boolean => 'absent' in field.extensions;
