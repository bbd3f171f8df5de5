// What a field may add to an answer, in points of cost: a point stands for about a kilobyte at most.

/** The cost of a field whose text may have so many characters; told as its `complexity`. */
export const weightOf = (characters: number): number => Math.ceil(characters / 1_024);
