// The line at which the log of a failed mission opens.
import { expect, it } from 'vitest';
import { failingLine } from '../../src/console/missions/failing-line.ts';

it.each([
  [
    'the first of the last red lines',
    ['ok 1', '\u001b[31mold\u001b[0m', 'ok 2', '\u001b[1;31mnot ok 3\u001b[0m', '\u001b[31m  at a.ts\u001b[0m', 'done'],
    3,
  ],
  [
    'words of failure where nothing is red',
    ['installing', 'not ok 16 - currency rounding', '    expected 10.01', '# 16 tests'],
    1,
  ],
  ['no sum that says that nothing failed', ['1 of 2 tests failed', '0 errors', 'no failures'], 0],
  ['none where nothing says so', ['one', 'two'], -1],
])('the failing line of a log is %s', (_, lines, line) => {
  expect(failingLine(lines)).toBe(line);
});
