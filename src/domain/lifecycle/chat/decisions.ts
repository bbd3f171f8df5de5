// Encodes a button's decision in the value of the button.

export type ButtonDecision = { runId: string } & (
  | { kind: 'plan'; cause: string; approves: boolean }
  | { kind: 'tool'; sandboxId: string; seq: number; approves: boolean }
  | { kind: 'answer'; sandboxId: string; seq: number; choice: number }
);

export const writeDecision = (decision: ButtonDecision): string => JSON.stringify(decision);

/** The vendor signs the request, so the value comes from a button of this platform, but it may have the format of an earlier release. */
export function readDecision(value: string): ButtonDecision | null {
  try {
    const { kind, runId, ...rest } = JSON.parse(value) as Record<string, unknown>;
    const { cause, approves, sandboxId, seq, choice } = rest;
    if (typeof runId !== 'string') return null;
    if (kind === 'plan' && typeof cause === 'string' && typeof approves === 'boolean')
      return { kind, runId, cause, approves };
    if (typeof sandboxId !== 'string' || typeof seq !== 'number') return null;
    if (kind === 'tool' && typeof approves === 'boolean') return { kind, runId, sandboxId, seq, approves };
    if (kind === 'answer' && typeof choice === 'number') return { kind, runId, sandboxId, seq, choice };
  } catch {}
  return null;
}
