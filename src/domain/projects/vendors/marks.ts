// The invisible mark of a run in texts at vendors without idempotency keys: it shows whether an issue or comment exists already, and
// that a mission has written it.

export const markOf = (runId: string): string => `<!-- run: ${runId} -->`;
export const marked = (text: string, runId: string): string => `${text}\n\n${markOf(runId)}`;
/** Whether a mission wrote the text: it starts no other one. */
export const isOfMission = (text: string | null | undefined): boolean => /<!-- run: run_\w+ -->/.test(text ?? '');
