// The difference between two shares, with its confidence interval (Newcombe, Statistics in Medicine 17 (1998), method 10).

export interface Share {
  count: number;
  of: number;
}

export interface Difference {
  /** The second share minus the first one, from -1 to 1. */
  difference: number;
  /** Bounds of the interval that contains the true difference with a probability of 95 percent. */
  low: number;
  high: number;
}

/** The quantile of the normal distribution for 95 percent. */
const z = 1.959964;

/** Wilson's confidence interval for one proportion. */
function interval({ count, of }: Share): { low: number; high: number } {
  const share = count / of;
  const center = share + z ** 2 / (2 * of);
  const half = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  return { low: (center - half) / scale, high: (center + half) / scale };
}

/** Compares two shares; null when one of them has no missions. */
export function differenceOf(first: Share, second: Share): Difference | null {
  if (first.of === 0 || second.of === 0) return null;
  const [a, b] = [first.count / first.of, second.count / second.of];
  const [ofA, ofB] = [interval(first), interval(second)];
  const difference = b - a;
  return {
    difference,
    low: difference - Math.hypot(b - ofB.low, ofA.high - a),
    high: difference + Math.hypot(ofB.high - b, a - ofA.low),
  };
}

/** Whether the interval excludes 0, so that the versions differ by more than chance. */
export const isMoreThanChance = ({ low, high }: Difference): boolean => low > 0 || high < 0;
