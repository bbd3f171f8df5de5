// The regression check of the bench: its comparisons and its tolerance.
import { describe, expect, test } from 'vitest';
import { type Ratios, regressions } from '../../bench/last-figures.ts';

const ratios = (...cpu: number[]): Ratios => ({
  'one project': Object.fromEntries(cpu.map((one, n) => [`server ${n}`, { cpu: one, perSecond: 1 }])),
});

describe('npm run bench -- --check', () => {
  test('the check of bench figures accepts an increase of ten percent in CPU time', () => {
    expect(regressions(ratios(1, 2), ratios(1.1, 2.2))).toEqual([]);
    expect(regressions(ratios(1, 2), ratios(0.5, 1))).toEqual([]);
  });

  test('the check of bench figures names the comparison whose CPU time has increased', () => {
    expect(regressions(ratios(1, 2), ratios(1.2, 2.4))).toEqual(['one project: 20 percent more CPU than last time']);
  });

  test('the check of bench figures reports no regression when only the other server of a comparison has become faster', () => {
    expect(regressions(ratios(1, 2, 3), ratios(1.5, 2, 3))).toEqual([]);
  });

  test('the check of bench figures ignores comparisons without an earlier figure', () => {
    expect(regressions({}, ratios(2))).toEqual([]);
    expect(regressions({ 'one project': {} }, ratios(2))).toEqual([]);
  });
});
