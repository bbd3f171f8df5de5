// What a program calls itself, fit to be shown where a person decides. Pure.

/** Without the characters that turn or hide text (Unicode bidi and control); null when nothing is left. */
export const shownName = (name: string | undefined): string | null =>
  name?.replace(/[\p{Cc}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]/gu, '').trim() || null;
