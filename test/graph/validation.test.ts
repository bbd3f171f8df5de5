// The rule for names, and its use by every input that is a name.
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { requestRecords } from '#graph/input.ts';
import { nameText } from '#graph/validation.ts';
import '../../src/schema.ts';

const name = nameText({ max: 10 });
const read = (text: string) => {
  const { data, error } = name.safeParse(text);
  return data ?? error!.issues.map(({ message }) => message);
};

describe('a name', () => {
  it.each([
    ['  Acme  ', 'Acme'],
    ['\u00A0Acme\u3000', 'Acme'],
    [' 0123456789 ', '0123456789'],
    ['Zoë & Söhne', 'Zoë & Söhne'],
    ['中文 النص', '中文 النص'],
    ['❤️ 👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿', '❤️ 👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ])('%j is read as %j', (text, expected) => {
    expect(nameText({ max: 20 }).parse(text)).toBe(expected);
  });

  it.each(['', ' ', '\u00A0', ' \u2003 '])('%j is refused as blank', (text) => {
    expect(read(text)).toEqual(['must be at least 1 character']);
  });

  it('a name is refused beyond its maximum length, not counting the blanks around it', () => {
    expect(read(` ${'x'.repeat(11)} `)).toEqual(['must be at most 10 characters']);
  });

  const refused = [
    ['a line feed', '\n'],
    ['a carriage return', '\r'],
    ['a tab', '\t'],
    ['DEL', '\u007F'],
    ['NEL', '\u0085'],
    ['an escape', '\u001B'],
    ['the line separator', '\u2028'],
    ['the paragraph separator', '\u2029'],
    ['a zero-width space', '\u200B'],
    ['a zero-width non-joiner', '\u200C'],
    ['a zero-width joiner', '\u200D'],
    ['the left-to-right mark', '\u200E'],
    ['the right-to-left mark', '\u200F'],
    ['the Arabic letter mark', '\u061C'],
    ...['\u202A', '\u202B', '\u202C', '\u202D', '\u202E'].map((one) => ['an embedding or override', one] as const),
    ...['\u2066', '\u2067', '\u2068', '\u2069'].map((one) => ['an isolate', one] as const),
    ['a word joiner', '\u2060'],
    ['a byte order mark', '\uFEFF'],
    ['a soft hyphen', '\u00AD'],
    ['a Hangul filler', '\u3164'],
    ['a tag character', '\u{E0041}'],
  ] as const;

  it.each(refused)('a name is refused when it contains %s (%j) in the middle or at either end', (_what, character) => {
    for (const text of [`a${character}b`, `${character}a`, `a${character}`]) {
      expect(read(text)).toEqual(['must not contain line breaks, control characters or invisible characters']);
    }
  });

  it('a name is refused when it contains a lone surrogate', () => {
    expect(read('a\uD800')).toEqual(['contains a lone surrogate']);
  });
});

describe('every input field that is a name follows the rule for names', () => {
  const names = [...requestRecords].flatMap(([record, { zod }]) =>
    Object.entries(zod.shape as Record<string, z.ZodType>)
      .filter(([field]) => /(^n|N)ame$|^runtime$/.test(field) && !/^(repoFullName|workerName)$/.test(field))
      // A declared server's name, as a runtime sends it back.
      .filter(([field]) => field !== 'serverName')
      // The name of an environment variable.
      .filter(([field]) => !(record === 'CreateSecretRequest' && field === 'name'))
      .map(([field, type]) => [record, field, type] as const),
  );

  it('the input fields that this test finds include the known ones', () => {
    expect(names.map(([record, field]) => `${record}.${field}`)).toEqual(
      expect.arrayContaining([
        'CreateOrganizationRequest.name',
        'CreateProjectRequest.name',
        'CreateTokenRequest.name',
      ]),
    );
  });

  it.each(names)('%s.%s follows the rule for names', (_record, _field, type) => {
    expect(type.parse(' Acme ')).toBe('Acme');
    for (const text of ['a\u202Eb', 'a\nb', ' ']) expect(type.safeParse(text).success).toBe(false);
  });

  it('a label follows the rule for names too', () => {
    const { labels } = requestRecords.get('CreateScheduledTaskRequest')!.zod.shape as Record<string, z.ZodType>;
    expect(labels!.parse([' a '])).toEqual(['a']);
    expect(labels!.safeParse(['a\u202Eb']).success).toBe(false);
  });
});
