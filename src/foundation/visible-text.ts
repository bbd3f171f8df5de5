// Checks that a name has no invisible content (Unicode Technical Report 36, section 2: visual spoofing).

/** Control characters, line breaks, and characters that reorder or hide text: bidirectional and zero-width ones. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\uFE0E\uFE0F])\p{Default_Ignorable_Code_Point}/u;
/** Emoji may be joined by zero-width characters. */
// biome-ignore lint/complexity/useRegexLiterals: the compiler's target predates the flag v
const emoji = new RegExp('\\p{RGI_Emoji}', 'gv');

/** One line without invisible characters; those inside an emoji count as visible. */
export const isVisibleLine = (text: string): boolean =>
  !invisible.test(text) || !invisible.test(text.replace(emoji, ''));
