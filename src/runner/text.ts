// Prepares texts for reports: limits them to the bounds of the platform, and masks secrets.

/** The beginning of a text. A surrogate pair that is cut in half becomes a replacement character. */
export const clip = (text: string, most: number): string => text.slice(0, most).toWellFormed();

/** Maximum number of characters of the log of a setup or of an image. */
const maxLogCharacters = 1_000_000;

/** Logs the beginning of an output, and says that the rest is missing. */
export function bounded(log: (text: string) => void): (text: string) => void {
  let left = maxLogCharacters;
  return (text) => {
    if (left <= 0) return;
    left -= text.length;
    log(left > 0 ? text : 'The rest of the output is left out.\n');
  };
}

export type Mask = (text: string) => string;

/** Minimum length of a masked value: shorter ones could also occur in ordinary text. */
const shortestSecret = 4;

/**
 * Returns a function that replaces the values of secrets in a text, including values in Base64 and in URL encoding, and the single lines of
 * a value with several lines. The masked text is never longer than the text, so masking cannot exceed a maximum length.
 */
export function createMask(values: readonly string[]): Mask {
  const parts = values.flatMap((value) => [value, ...value.split(/\r?\n/).filter((line) => line.length >= 8)]);
  const encoded = parts
    .filter((part) => part.trim().length >= shortestSecret)
    .flatMap((part) => [part, JSON.stringify(part).slice(1, -1), encodeURIComponent(part), ...inBase64(part)]);
  const found = [...new Set(encoded)].sort((a, b) => b.length - a.length);
  return (text) => found.reduce((masked, value) => masked.replaceAll(value, replacementFor(value)), text);
}

const replacement = '[secret]';
const replacementFor = ({ length }: string): string => (length < replacement.length ? '*'.repeat(length) : replacement);

/** The Base64 characters of a value at each of the three alignments, without those that depend on adjacent bytes. */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  const positions = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = [0, 2, 3][shift]!;
    const rest = (shift + bytes.length) % 3;
    return shifted.slice(from, rest === 0 ? undefined : -1);
  });
  return [...positions, ...positions.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))].filter(
    (text) => text.length >= 6,
  );
}
