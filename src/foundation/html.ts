// HTML as template strings: every value is escaped unless it is HTML itself. Attribute values must stand in quotes.

/** Proof that the text was made here: no JSON and no form can carry a symbol. */
const markup = Symbol('markup');

export interface Html {
  readonly [markup]: string;
}

/** Nothing is written for null, undefined and false, so that `condition && html…` reads well. */
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

/** Text that is HTML already and is known to be harmless: our own, never a caller's. */
export const raw = (text: string): Html => ({ [markup]: text });

export const htmlText = (value: Html): string => value[markup];
