// Texts within the bounds of the platform.

/** The beginning of a text. A surrogate pair that is cut in half becomes a replacement character. */
export const clip = (text: string, most: number): string => text.slice(0, most).toWellFormed();
