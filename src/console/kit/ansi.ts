// Splits a line of a log into parts by their terminal colors (ECMA-48, SGR). Each part has a CSS class for its color. Other control
// sequences are left out.

export interface Part {
  text: string;
  name: string;
}

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const sequences = /\u001b\[([\d;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

export const hasColors = (text: string): boolean => text.includes('\u001b');

/** Removes the control sequences of a text. */
export const plain = (text: string): string => text.replace(sequences, '');

export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let color = '';
  let isBold = false;
  let from = 0;
  const add = (to: number) => {
    const name = [color && `ansi-${color}`, isBold && 'ansi-bold'].filter(Boolean).join(' ');
    if (to > from) parts.push({ text: text.slice(from, to), name });
  };
  for (const match of text.matchAll(sequences)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] !== 'm') continue;
    const codes = (match[1] || '0').split(/[;:]/).map(Number);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!;
      if (code === 38 || code === 48) {
        // The first 16 of the 256 colors have names; all other colors, including 24-bit ones, are left out.
        const [kind, index = 16] = codes.slice(i + 1);
        if (code === 38) color = kind === 5 && index < 16 ? colors[index % 8]! : '';
        i += kind === 5 ? 2 : 4;
      } else if (code === 0) [color, isBold] = ['', false];
      else if (code === 1) isBold = true;
      else if (code === 22) isBold = false;
      else if (code >= 30 && code <= 37) color = colors[code - 30]!;
      else if (code >= 90 && code <= 97) color = colors[code - 90]!;
      else if (code === 39) color = '';
    }
  }
  add(text.length);
  return parts;
}
