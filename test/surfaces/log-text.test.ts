// The lines of a log are independent of its division into pieces.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partsOf, plain } from '../../src/console/kit/ansi.ts';
import { LogText } from '../../src/console/logs/log-text.ts';

const piece = fc
  .array(fc.constantFrom('a', 'B', '\n', '\n', 'İ', '\u001b[31m'), { minLength: 1 })
  .map((all) => all.join(''));

it('a log that was read in pieces has the lines of the whole text, even if older pieces were prepended and newer pieces were appended', () => {
  fc.assert(
    fc.property(
      fc.array(piece),
      piece,
      fc.array(piece),
      fc.constantFrom('a', 'b', 'ab'),
      (older, first, newer, words) => {
        const log = new LogText();
        const arrived = (at: number) => [{ line: 0, at }];
        log.prepend(first, older.length === 0, arrived(older.length + 1));
        for (const [i, text] of older.entries()) log.prepend(text, i === older.length - 1, arrived(older.length - i));
        for (const [i, text] of newer.entries()) log.append(text, arrived(older.length + 2 + i));
        const all = [...older.reverse(), first, ...newer];
        const whole = all.join('');
        const lines = whole.replace(/\n$/, '').split('\n');
        const times = all.flatMap((text, i) => Array.from(text, () => i + 1));
        let begin = 0;
        for (const [i, line] of lines.entries()) {
          expect(log.timeOf(i)).toBe(times[begin]);
          begin += [...line].length + 1;
        }
        expect(log.parts().join('')).toBe(whole);
        expect(lines.map((_, i) => log.line(i))).toEqual(lines);
        expect([...log.lengths()]).toEqual(lines.map(({ length }) => length));
        const found = lines.flatMap((line, i) => (plain(line).toLowerCase().includes(words) ? [i] : []));
        expect(log.linesWith(words)).toEqual(found);
      },
    ),
  );
});

it('terminal colors of 16, 256 and 24 bits are read from a log; other control sequences are left out', () => {
  const text =
    '\u001b[1;31mA\u001b[38;5;10mB\u001b[48;5;1mC\u001b[38;2;1;31;4mD\u001b[0;90mE\u001b[2J\u001b]0;x\u0007F';
  expect(partsOf(text)).toEqual([
    { text: 'A', name: 'ansi-red ansi-bold' },
    { text: 'B', name: 'ansi-green ansi-bold' },
    { text: 'C', name: 'ansi-green ansi-bold' },
    { text: 'D', name: 'ansi-bold' },
    { text: 'E', name: 'ansi-black' },
    { text: 'F', name: 'ansi-black' },
  ]);
  expect(plain(text)).toBe('ABCDEF');
});
