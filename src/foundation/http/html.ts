// HTML as template strings: every inserted value is escaped unless it is HTML itself. Values of attributes must be quoted.

/** Marks text that this module created: a symbol cannot come from JSON or a form. */
const markup = Symbol('markup');

export interface Html {
  readonly [markup]: string;
}

/** Null, undefined and false render as nothing, which allows `condition && html…`. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);

function written(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  return markup in value ? value[markup] : value.map(written).join('');
}

export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return { [markup]: strings.reduce((text, string, i) => text + written(values[i - 1]) + string) };
}

/** Marks a text as trusted HTML. The text must be from this code base, and must not contain input of a caller. */
export const raw = (text: string): Html => ({ [markup]: text });

export const htmlText = (value: Html): string => value[markup];
