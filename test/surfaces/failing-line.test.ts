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
    'the one with words of failure where no line is red',
    ['installing', 'not ok 16 - currency rounding', '    expected 10.01', '# 16 tests'],
    1,
  ],
  ['not a summary without failures', ['1 of 2 tests failed', '0 errors', 'no failures'], 0],
  ['absent where no line reports a failure', ['one', 'two'], -1],
])('the failing line of a log is %s', (_, lines, line) => {
  expect(failingLine(lines)).toBe(line);
});
