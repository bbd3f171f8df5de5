// schema.graphql matches the code, and breaking changes are announced (scripts/schema-check.ts).
import { readFileSync } from 'node:fs';
import { isEnumType, isInputObjectType, isIntrospectionType, isObjectType, isSpecifiedScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { printGraph } from '#graph/print.ts';
import { schema } from '#schema.ts';
import { unannounced } from '../scripts/breaking-changes.ts';

test('schema.graphql matches the code; run `npm run schema` after an intended change', () => {
  expect(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8')).toBe(printGraph(schema));
});

const before = 'type Query { project(id: String): Project } type Project { id: String! name: String }';
const withoutName = 'type Query { project(id: String): Project } type Project { id: String! }';

test('a removed field breaks clients unless the changelog names its path under the newest version', async () => {
  const complaint = ["Project.name: Field 'name' was removed from object type 'Project'"];
  expect(await unannounced(before, withoutName, '')).toEqual(complaint);

  const written = (entry: string) => `# Changelog\n\n## Unreleased\n\n${entry}\n\n## 1.0.0\n\n- Something else.\n`;
  expect(await unannounced(before, withoutName, written('- Breaking: `Project.name` is gone.'))).toEqual([]);
  expect(await unannounced(before, withoutName, written('- Breaking: names are gone\n  (`Project.name`).'))).toEqual(
    [],
  );
  expect(await unannounced(before, withoutName, '## 1.0.0\n- Breaking: Project.name')).toEqual([]);

  expect(await unannounced(before, withoutName, written('- Changed: `Project.name` is gone.'))).toEqual(complaint);
  expect(await unannounced(before, withoutName, written('- Breaking: `Project.names`, `Project` too.'))).toEqual(
    complaint,
  );
  const released = '## Unreleased\n\n## 1.0.0\n\n- Breaking: `Project.name` is gone.\n';
  expect(await unannounced(before, withoutName, released)).toEqual(complaint);
});

test('an addition to the graph breaks no client', async () => {
  expect(await unannounced(withoutName, before, '')).toEqual([]);
});

test('every type, field, argument and enum value has a description', () => {
  const lacking: string[] = [];
  const check = (path: string, { description }: { description?: string | null | undefined }) => {
    if (!description) lacking.push(path);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
    check(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field);
    }
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      check(`${type.name}.${field.name}`, field);
      for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name})`, argument);
    }
  }
  expect(lacking).toEqual([]);
});
