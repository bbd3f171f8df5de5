// Graph fields of relations: `t.belongsTo('organization', { link: 'organizations:read' })` and `t.hasMany('runs', { link, limit })`.
// Their type, resolver and batch loader are derived from the relation that the model declares (foundation/postgres/base-model.ts).
import SchemaBuilder, {
  type FieldKind,
  FieldRef,
  type ImplementableObjectRef,
  type ObjectRef,
  RootFieldBuilder,
  type SchemaTypes,
} from '@pothos/core';
import type DataLoader from 'dataloader';
import type { Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { Statics } from '#foundation/postgres/base-model.ts';
import { type Context, toMany, toOne } from './context.ts';

type ModelClass<M = object> = Statics & (new () => M);

/** A model that relations refer to. It defines which of its records a caller may reach. */
type RelatedModel = ModelClass & {
  /** Conditions that hold for each reachable record. @throws 403 for a caller that may reach none */
  visibleTo(caller: Caller): Readonly<Record<string, string>>;
};

interface RelationOptions {
  /** The scope required to follow the relation. */
  link: Rule;
  description?: string;
  /**
   * The GraphQL type of the related records. Needed only if their model has several GraphQL types, and the relation leads to another type
   * than the one with the name of the model.
   */
  type?: object;
}
interface ManyOptions extends RelationOptions {
  /** Maximum number of related records, newest first; absent means all, in the model's order. */
  limit?: number;
}

declare global {
  export namespace PothosSchemaTypes {
    interface SchemaBuilder<Types extends SchemaTypes> {
      /** The graph type of a model's rows. If a model has several types, relations refer to the type with the model's name. */
      modelType<M extends object>(model: ModelClass<M>, name: string): ImplementableObjectRef<Types, M>;
    }
    // biome-ignore-start lint/correctness/noUnusedVariables: an augmentation repeats the parameters it augments
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind extends FieldKind> {
      /** The record referred to by a column; null when the column is null, or the caller cannot reach the record. */
      belongsTo(relation: string, options: RelationOptions): FieldRef<Types, unknown, Kind>;
      /** The record whose id is in `column`, for a type without a model. */
      byId(type: object, column: string, options: RelationOptions): FieldRef<Types, unknown, Kind>;
      /** The records that refer to this one by a column. */
      hasMany(relation: string, options: ManyOptions): FieldRef<Types, unknown, Kind>;
    }
    // biome-ignore-end lint/correctness/noUnusedVariables: see above
  }
}

type Keyed = Record<string, string>;

const modelOfType = new Map<string, ModelClass>();
const typeOfModel = new Map<ModelClass, ObjectRef<never, unknown>>();

const schemaBuilder = SchemaBuilder.prototype as PothosSchemaTypes.SchemaBuilder<SchemaTypes>;
schemaBuilder.modelType = function modelType(model, name) {
  const type = this.objectRef<never>(name);
  modelOfType.set(name, model);
  if (!typeOfModel.has(model) || name === model.name) typeOfModel.set(model, type as never);
  return type as never;
};

type Fields = PothosSchemaTypes.RootFieldBuilder<SchemaTypes, unknown> & {
  createField(options: object): FieldRef<SchemaTypes>;
};
const fields = RootFieldBuilder.prototype as unknown as Fields;
fields.belongsTo = function belongsTo(relation, options) {
  return later(this, (parent) => {
    const { column, related, relatedColumn } = ends(parent, relation);
    return oneField(column, related, relatedColumn, options);
  });
};
fields.byId = function byId(type, column, options) {
  const model = modelOfType.get((type as { name: string }).name) as RelatedModel;
  return later(this, () => oneField(column, model, 'id', options));
};
fields.hasMany = function hasMany(relation, { limit, ...options }) {
  return later(this, (parent) => {
    const { column, related, relatedColumn } = ends(parent, relation);
    const load = loadMany(related, relatedColumn, limit);
    return {
      ...options,
      ...(limit && { complexity: { field: 1, multiplier: limit } }),
      type: [options.type ?? typeOf(related)],
      resolve: (row: Keyed, _args: object, context: Context) => (row[column] ? load(context).load(row[column]) : []),
    };
  });
};

function oneField(column: string, related: RelatedModel, relatedColumn: string, options: RelationOptions): object {
  const load = loadOne(related, relatedColumn);
  return {
    ...options,
    type: options.type ?? typeOf(related),
    nullable: true,
    resolve: (row: Keyed, _args: object, context: Context) => row[column] && load(context).load(row[column]),
  };
}

/** A field whose options depend on the type that it is built into. */
const later = (t: typeof fields, optionsFor: (parent: string) => object): never =>
  new FieldRef<SchemaTypes>((t as unknown as { kind: FieldKind }).kind, (name, type) =>
    (t as Fields).createField(optionsFor(type.name)).getConfig(name, type),
  ) as never;

function ends(typeName: string, name: string) {
  const model = modelOfType.get(typeName);
  if (!model) throw new Error(`${typeName} is not the type of a model: it has no relation ${name}`);
  const relation = model.getRelation(name);
  return {
    column: relation.ownerProp.props[0]!,
    related: relation.relatedModelClass as unknown as RelatedModel,
    relatedColumn: relation.relatedProp.props[0]!,
  };
}

function typeOf(model: ModelClass): unknown {
  const type = typeOfModel.get(model);
  if (!type) throw new Error(`${model.name} has no graph type`);
  return type;
}

type Loader = (context: Context) => DataLoader<string, unknown>;

// One loader for all fields that refer to the same records, so that each record is read once.
const loaders = new Map<ModelClass, Map<string, Loader>>();

function loadOne(related: RelatedModel, column: string): Loader {
  const known = loaders.get(related) ?? new Map<string, Loader>();
  loaders.set(related, known);
  const loader =
    known.get(column) ??
    toOne<Keyed>(
      (keys, caller) => related.findByKeys(column as never, keys, related.visibleTo(caller)) as never,
      (row) => row[column]!,
      `${related.name}.${column}`,
    );
  known.set(column, loader);
  return loader;
}

const loadMany = (related: RelatedModel, column: string, limit: number | undefined): Loader =>
  toMany<Keyed>(
    (keys, caller) =>
      (limit === undefined
        ? related.findByKeys(column as never, keys, related.visibleTo(caller))
        : related.findNewestByKeys(column as never, keys, related.visibleTo(caller), limit)) as never,
    (row) => row[column]!,
    `${related.name}.${column}`,
  );
