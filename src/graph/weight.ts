// The cost of long texts in points: a point is about a kilobyte of the response.

/** The `complexity` of a field whose text may have so many characters. */
export const weightOf = (characters: number): number => Math.ceil(characters / 1_024);
