// The query cost of a long text: one point for about a kilobyte of the response.

/** The `complexity` of a field whose text may have this many characters. */
export const weightOf = (characters: number): number => Math.ceil(characters / 1_024);
