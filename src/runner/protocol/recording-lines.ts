// The lines of a recording (docs/recordings.md).

export interface RecordedCall {
  type: 'call';
  stepId: string;
  /** Position among the calls of the step by their beginning, from 1. Lines are in the order in which calls ended. */
  number: number;
  /** When the call began, epoch milliseconds. */
  at: number;
  method: string;
  /** The path at the gateway, such as `/anthropic/v1/messages` or `/mcp/<server>`. */
  path: string;
  requestHeaders: Record<string, string>;
  /** The body as the agent sent it; null when it is left out. */
  request: string | null;
  status: number;
  responseHeaders: Record<string, string>;
  /** The body as the agent received it; null when it is left out. */
  response: string | null;
  /** The pieces of the response: milliseconds since the beginning, and bytes. */
  pieces: [ms: number, bytes: number][];
  /** Whether the agent received all of it. */
  isWhole: boolean;
  /** Whether the bodies are left out, because they exceed the bounds or are not text. */
  isOmitted: boolean;
}
