// Generates a module with the operations of the console, and one with the operations of the runner. A module has the types of the
// operations, made from schema.graphql, and the text of each operation as one string. If an operation is invalid against the schema, the
// generation fails. `npm run console:types` writes the modules; `npm run schema:check` fails if they are outdated.
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

/** A program whose operations are generated from its .graphql files. Paths are relative to the project. */
export interface Program {
  name: string;
  /** Folder of the .graphql files. */
  folder: string;
  /** Generated module. */
  file: string;
}

const consoleFolder = 'src/console';
export const programs: readonly Program[] = [
  { name: 'console', folder: consoleFolder, file: `${consoleFolder}/generated/documents.ts` },
  { name: 'runner', folder: 'src/runner/protocol', file: 'src/runner/generated/operations.ts' },
];

const root = fileURLToPath(new URL('..', import.meta.url));

const introductionOf = ({ name, folder, file }: Program): string => {
  const where = path.dirname(file) === folder ? 'here' : `in ${folder}`;
  return `// The operations of the ${name} with their types, made from schema.graphql and the .graphql files ${where} by
// \`npm run console:types\`. Not edited.

/** The text of an operation for a request, with the types of its variables and its data. */
export interface Operation<Data, Variables> {
  readonly text: string;
  /** Always undefined: only the compiler reads its type. */
  readonly types?: [Data, Variables];
}
`;
};

export async function typedOperations(program: Program, sdl: string): Promise<string> {
  const folder = path.join(root, program.folder);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.graphql'));
  const documents = files.sort().map((name) => ({
    location: name,
    document: parse(readFileSync(path.join(folder, name), 'utf8')),
  }));
  const whole: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: documents.flatMap(({ document }) => document.definitions),
  };
  const schema = buildSchema(sdl);
  const [error] = validate(schema, whole);
  if (error) throw new Error(`An operation of the ${program.name} is invalid against the schema: ${error.message}`);
  const types = await codegen({
    schema: parse(printSchema(asked(schema, whole))),
    documents,
    filename: program.file,
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
  return `${introductionOf(program)}\n${types.trim()}\n\n${texts(whole)}`;
}

/** Returns only the part of the schema that the operations use, so that a change to another part does not change the generated file. */
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

/** The line of each operation: `export const runs: Operation<RunsQuery, RunsQueryVariables> = { text: '…' }`. */
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

/** Fragments that are spread in a definition, directly or within fragments. */
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
