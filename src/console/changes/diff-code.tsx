// The text of a line: syntax colors, with the words that changed marked.
import { visible } from '../kit/words.tsx';
import type { DiffLine } from './diff-parse.ts';
import { changedWords, type Range } from './diff-rows.ts';
import type { Colors, Token } from './highlight.ts';

/**
 * Invisible characters that change the direction of text. They are shown, because one of them could make a line look different from the code
 * that runs (CVE-2021-42574).
 */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Maximum number of characters of a line that are shown. */
const maxCharacters = 5_000;

/** Scopes of highlight.js, grouped by color. */
const colorOf: Record<string, string> = {
  ...{
    keyword: 'keyword',
    built_in: 'name',
    literal: 'keyword',
    type: 'name',
    title: 'name',
    attr: 'name',
    tag: 'keyword',
  },
  ...{ string: 'string', regexp: 'string', symbol: 'string', number: 'number', comment: 'comment', quote: 'comment' },
  ...{ doctag: 'comment', meta: 'comment', attribute: 'name', property: 'name', section: 'name', name: 'keyword' },
  ...{
    variable: 'number',
    'template-variable': 'number',
    'selector-class': 'name',
    'selector-tag': 'keyword',
    bullet: 'number',
  },
};

interface Properties {
  line: DiffLine;
  partner: DiffLine | null;
  colors: Colors | null;
}

export function DiffCode({ line, partner, colors }: Properties) {
  const text = line.text.slice(0, maxCharacters);
  const tokens = colors?.get(line) ?? [[text, ''] as Token];
  const marks = partner === null ? [] : marksOf(line, partner);
  return (
    <>
      {marked(tokens, marks, text.length).map(({ text: shown, name, isMarked }, i) => {
        const part = visible(shown, directions);
        const names = [name && `code-${name}`, isMarked && 'code-changed'].filter(Boolean).join(' ');
        return names ? (
          <span key={i} class={names}>
            {part}
          </span>
        ) : (
          part
        );
      })}
      {line.text.length > maxCharacters && (
        <span class="muted"> … {line.text.length - maxCharacters} more characters</span>
      )}
      {line.endsFile && <span class="muted"> (no line end)</span>}
    </>
  );
}

const marksOf = (line: DiffLine, partner: DiffLine): Range[] =>
  line.kind === '-' ? changedWords(line.text, partner.text).old : changedWords(partner.text, line.text).new;

interface Part {
  text: string;
  name: string;
  isMarked: boolean;
}

/** Splits the tokens at the ends of the marked ranges. */
function marked(tokens: readonly Token[], marks: readonly Range[], length: number): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const [token, scope] of tokens) {
    const name = colorOf[scope.split('.')[0]!] ?? '';
    const end = Math.min(at + token.length, length);
    const cuts = marks.flat().filter((cut) => cut > at && cut < end);
    for (const [i, from] of [at, ...cuts].entries()) {
      const to = cuts[i] ?? end;
      const isMarked = marks.some(([first, last]) => from >= first && to <= last);
      if (to > from) parts.push({ text: token.slice(from - at, to - at), name, isMarked });
    }
    at = end;
  }
  return parts;
}
