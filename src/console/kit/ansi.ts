// Colours of terminals in the text of a log (ECMA-48, SGR): parts of a line with the class of each. Other control sequences are
// left out.

export interface Part {
  text: string;
  name: string;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const sequences = /\u001b\[([\d;:]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

export const hasColours = (text: string): boolean => text.includes('\u001b');

/** Removes the control sequences of a text. */
export const plain = (text: string): string => text.replace(sequences, '');

export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let colour = '';
  let isBold = false;
  let from = 0;
  const add = (to: number) => {
    const name = [colour && `ansi-${colour}`, isBold && 'ansi-bold'].filter(Boolean).join(' ');
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
        // The first 16 of the 256 colours have names; the others, and 24-bit colours, are left out.
        const [kind, index = 16] = codes.slice(i + 1);
        if (code === 38) colour = kind === 5 && index < 16 ? colours[index % 8]! : '';
        i += kind === 5 ? 2 : 4;
      } else if (code === 0) [colour, isBold] = ['', false];
      else if (code === 1) isBold = true;
      else if (code === 22) isBold = false;
      else if (code >= 30 && code <= 37) colour = colours[code - 30]!;
      else if (code >= 90 && code <= 97) colour = colours[code - 90]!;
      else if (code === 39) colour = '';
    }
  }
  add(text.length);
  return parts;
}
