// Reads the settings of the runner: an invalid setting ends the runner with an error that names it.

/** Reads a setting whose value is `on` or `off`. */
export function isOn(name: string, defaultValue: boolean): boolean {
  const value = process.env[name];
  if (value && !['on', 'off'].includes(value)) quit(`${name}: must be on or off.`);
  return value ? value === 'on' : defaultValue;
}

/** Reads a setting whose value is a positive integer or, if allowed, 0. */
export function setting(name: string, defaultValue: number, least: 0 | 1 = 1): number {
  const value = Number(process.env[name] ?? defaultValue);
  // The upper bound is the maximum delay of a timer in milliseconds.
  if (Number.isInteger(value) && value >= least && value < 2 ** 31) return value;
  return quit(`${name}: must be ${least === 0 ? '0 or ' : ''}a positive integer.`);
}

/**
 * Reads the labels of this runner, which are separated by commas. The runner does not validate the labels: when the runner claims a run,
 * the platform refuses an invalid label with an error that names this label.
 */
export const labelsOf = (list = ''): string[] =>
  list
    .split(',')
    .map((label) => label.trim())
    .filter(Boolean);

export function quit(why: string): never {
  console.error(why);
  process.exit(1);
}
