// Lets the other features of the protocol, such as resources and completions, call tools: they return the fields that the tool returns, and
// require the scope that the tool requires.
import { admits } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { invalid } from '#foundation/problem.ts';
import { bytes } from '#limits.ts';
import type { Tool } from './tools.ts';

// biome-ignore lint/suspicious/noExplicitAny: the record of any tool
export type ToolRecord = Record<string, any>;

export interface Calls {
  /** Whether the caller's scopes allow the tool. */
  may(tool: string): boolean;
  /** Calls a tool and returns its record. @throws the problem, or an internal error */
  call(tool: string, values: Record<string, unknown>): Promise<ToolRecord>;
  /** The allowed values of an argument of a tool. */
  valuesOf(tool: string, argument: string): string[];
  /** The content of an artifact, for a caller who may read artifacts. Null when it is missing. @throws 404 */
  readContent(artifactId: string): Promise<Buffer | null>;
}

/** Reads contents of artifacts, which are not in the graph. The application passes this function in. */
export type ReadContent = (caller: Caller, artifactId: string) => Promise<Buffer | null>;

export const callsOf = (
  tools: ReadonlyMap<string, Tool>,
  readContent: ReadContent,
  caller: Caller,
  requestId: string,
): Calls => ({
  readContent: (artifactId) => readContent(caller, artifactId),
  valuesOf(tool, argument) {
    const properties = tools.get(tool)!.listed.inputSchema.properties as Record<string, { enum?: string[] }>;
    return properties[argument]?.enum ?? [];
  },
  may: (tool) => admits(caller, tools.get(tool)!.rule),
  call: (tool, values) => tools.get(tool)!.call(caller, requestId, values) as Promise<ToolRecord>,
});

/** Counts the size of the responses to one request, all messages of a batch together. The returned function throws 400 beyond the limit. */
export function createAnswerBudget(): (size: number) => void {
  let left: number = bytes.mcpAnswer;
  return (size) => {
    if (size > left) {
      throw invalid(`The answer has ${size} bytes; the maximum is ${left}. Ask for fewer rows (limit).`);
    }
    left -= size;
  };
}
