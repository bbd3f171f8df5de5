// The layering rules applied to this source tree, and each rule applied to trees that violate it.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cases } from './support/layering-cases.ts';
import * as layering from './support/layering-rules.ts';

const rules = Object.entries(layering).filter((entry): entry is [string, layering.Rule] => entry[0] !== 'readTree');
const sentence = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

describe('the source tree', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const tree = layering.readTree(root, ['src', 'test', 'scripts', 'bench', 'examples', 'clients']);
  test.each(rules.map(([name, rule]) => [sentence(name), rule] as const))('%s', (_name, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

describe('the layering rules', () => {
  test.each(Object.entries(cases))('%s', (_title, [rule, tree, violation]) => {
    expect(rule(tree)).toEqual(violation === null ? [] : [violation]);
  });

  test('each layering rule has a test case', () => {
    const tried = new Set(Object.values(cases).map(([rule]) => rule));
    expect(rules.filter(([, rule]) => !tried.has(rule)).map(([name]) => name)).toEqual([]);
  });
});
