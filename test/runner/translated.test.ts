// A replay replaces the folders and commits in recorded answers with its own.
import { expect, it } from 'vitest';
import { normalized } from '../../src/runner/protocol/call-difference.ts';
import { translated } from '../../src/runner/protocol/translated.ts';

const event = (data: object) => `event: delta\ndata: ${JSON.stringify(data)}\n\n`;

it('the name of a folder is replaced in a text, and in deltas of a stream that split the name', () => {
  const replaced: [string, string][] = [
    ['/tmp/mission-aaaaaa/work', '/var/mission-b/work'],
    ['run_1', 'run_22'],
  ];
  expect(translated('{"a":"/tmp/mission-aaaaaa/work/x of run_1"}', replaced)).toBe(
    '{"a":"/var/mission-b/work/x of run_22"}',
  );
  const pieces = (...texts: string[]) =>
    texts.map((text) => event({ index: 1, delta: { partial_json: text } })).join('');
  const other = event({ index: 2, delta: { partial_json: '/work' } });
  expect(
    translated(pieces('{"f":"/tmp/mi', 'ssion-aaaaaa', '/work/a', ' run_') + other + pieces('1"}'), replaced),
  ).toBe(pieces('{"f":"/var/mission-b/work', '', '/a', ' run_22') + other + pieces('"}'));
  const done = `${event({ type: 'done', text: 'in run_1' })}data: [DONE]\n\n`;
  expect(translated(done, replaced)).toBe(done.replace('run_1', 'run_22'));
  expect(translated(': ping\n\n', replaced)).toBe(': ping\n\n');
});

it('hashes and dates are not compared, even a hash that has only digits or follows an escaped line break; short numbers and JSON numbers are compared', () => {
  const text = 'at 2026-11-26\n2026-11-27T10:00:00Z\nabc1234 Fix\n0593710 Mend 123456 a1b2c3';
  expect(normalized(JSON.stringify({ text, size: 12345678, list: [87654321] }), {})).toEqual({
    body: '{"text":"at {date}\\n{date}\\n{hash} Fix\\n{hash} Mend 123456 a1b2c3","size":12345678,"list":[87654321]}',
    named: ['abc1234', '0593710'],
  });
});
