// Parses arguments and options, and passes them to actions.
import { type Command, InvalidArgumentError } from 'commander';

/** Commander passes the arguments, the command's options and the command, which knows the global options. */
export const run =
  (action: (options: never, ...args: never[]) => Promise<void>) =>
  (...values: unknown[]): Promise<void> => {
    const command = values.at(-1) as Command;
    const perform = action as (options: unknown, ...args: unknown[]) => Promise<void>;
    return perform(command.optsWithGlobals(), ...values.slice(0, -2));
  };

export const list = (text: string): string[] => text.split(',').filter(Boolean);

export function count(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return Number(text);
}

export const whole = (text: string): number => (text === '0' ? 0 : count(text));

export function date(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('It must be a date such as 2026-11-22 or 2026-11-22T09:00:00Z.');
  return time;
}

export function amount(text: string): number {
  const value = Number(text);
  if (text === '' || !(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

export const amountOrNone = (text: string): number | 'none' => (text === 'none' ? text : amount(text));

export const oneOf = (words: readonly string[]) => (text: string) => {
  if (!words.includes(text)) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`);
  return text;
};

/** A whole number, or `none` to restore the default of a setting; `none` stays a string, because Commander would turn null into an empty string. */
export function limit(text: string): number | 'none' {
  if (text === 'none') return text;
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of at least 1, or none.');
  return Number(text);
}

/** Values of an option that may be repeated. */
export const repeated = (value: string, before: string[] = []): string[] => [...before, value];
