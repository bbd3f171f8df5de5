// The dashboard's operations as a module: types made from schema.graphql, and each operation as one string. A document that
// the schema does not know fails here. `npm run dashboard:types` writes it, `npm run schema:check` compares.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as operations from '@graphql-codegen/typescript-operations';
import { filterSchema, pruneSchema } from '@graphql-tools/utils';
import {
  buildSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  printSchema,
  stripIgnoredCharacters,
  validate,
  visit,
} from 'graphql';

export const dashboard = fileURLToPath(new URL('../src/surfaces/console/dashboard/', import.meta.url));
/** The file that is made. */
export const documentsFile = path.join(dashboard, 'documents.ts');

const introduction = `// The operations of the dashboard with their types, made from schema.graphql and the .graphql files here by
// \`npm run dashboard:types\`. Not edited.

/** An operation as it is sent, and what it takes and gives. */
export interface Operation<Data, Variables> {
  readonly text: string;
  /** Never there: it carries the types. */
  readonly types?: [Data, Variables];
}
`;

export async function dashboardDocuments(sdl: string): Promise<string> {
  const files = readdirSync(dashboard).filter((name) => name.endsWith('.graphql'));
  const documents = files.sort().map((name) => ({
    location: name,
    document: parse(readFileSync(path.join(dashboard, name), 'utf8')),
  }));
  const whole: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: documents.flatMap(({ document }) => document.definitions),
  };
  const schema = buildSchema(sdl);
  const [complaint] = validate(schema, whole);
  if (complaint) throw new Error(`the dashboard asks what the schema does not know: ${complaint.message}`);
  const types = await codegen({
    schema: parse(printSchema(asked(schema, whole))),
    documents,
    filename: documentsFile,
    config: {
      scalars: {
        EpochMs: 'number',
        EpochSec: 'number',
        SafeInt: 'number',
        IsoTime: 'string',
        True: 'true',
        Json: 'unknown',
      },
      defaultScalarType: 'string',
      enumsAsTypes: true,
      onlyOperationTypes: true,
      onlyEnums: false,
      skipTypename: true,
      useTypeImports: true,
      strictScalars: false,
      avoidOptionals: { field: true },
      inlineFragmentTypes: 'combine',
    },
    plugins: [{ typescript: {} }, { operations: {} }],
    pluginMap: { typescript, operations },
    pluginContext: {},
  });
  return `${introduction}\n${types.trim()}\n\n${texts(whole)}`;
}

/** What the operations can reach: a change elsewhere in the schema makes no other file. */
function asked(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLSchema {
  const roots = new Set(
    definitions.flatMap((one) =>
      one.kind === Kind.OPERATION_DEFINITION
        ? one.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? field.name.value : []))
        : [],
    ),
  );
  const isUsed = (_kind: string, name?: string) => roots.has(name!);
  return pruneSchema(filterSchema({ schema, rootFieldFilter: isUsed, argumentFilter: () => true }));
}

/** `export const runs: Operation<RunsQuery, RunsQueryVariables> = { text: '…' }` for each operation. */
function texts({ definitions }: DocumentNode): string {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  return definitions
    .flatMap((one) => {
      if (one.kind !== Kind.OPERATION_DEFINITION) return [];
      const name = one.name!.value;
      const type = name + one.operation[0]!.toUpperCase() + one.operation.slice(1);
      const used = spreadIn(one, fragments);
      const text = stripIgnoredCharacters([one, ...used].map(print).join('\n'));
      const constant = name[0]!.toLowerCase() + name.slice(1);
      return `export const ${constant}: Operation<${type}, ${type}Variables> = {\n  text: '${text}',\n};\n`;
    })
    .join('\n');
}

/** The fragments that are spread in a definition, and in those. */
function spreadIn(
  root: DocumentNode['definitions'][number],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FragmentDefinitionNode[] {
  const found = new Set<FragmentDefinitionNode>();
  const follow = (node: DocumentNode['definitions'][number]) =>
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value)!;
        if (found.has(fragment)) return;
        found.add(fragment);
        follow(fragment);
      },
    });
  follow(root);
  return [...found];
}
