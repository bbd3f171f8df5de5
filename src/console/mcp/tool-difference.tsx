// The definition of a tool, and its difference from the approved one, read when it is shown.
import { diffLines } from 'diff';
import { useState } from 'preact/hooks';
import { type McpToolDefinitionsQuery, type McpToolReviewQuery, mcpToolDefinitions } from '../generated/documents.ts';
import { ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';

export type Review = McpToolReviewQuery['mcpToolReview'];
export type Tool = Review['tools'][number];

/** Maximum of edits for a line-by-line comparison. */
const mostEdits = 500;

export interface Definable {
  projectId: string;
  serverName: string;
  tool: Tool;
}

type Definitions = McpToolDefinitionsQuery['mcpToolReview']['tools'][number];

export function Definition(properties: Definable) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Definition<span class="unseen"> of {properties.tool.name}</span>
      </summary>
      {isOpen && <Read {...properties} show={({ definition }) => <ScrollBlock>{definition}</ScrollBlock>} />}
    </details>
  );
}

export const Difference = (properties: Definable) => <Read {...properties} show={difference} />;

/** Definitions that are shown at the same time share a request: the client batches the queries of one tick. */
function Read({ projectId, serverName, tool, show }: Definable & { show(one: Definitions): preact.JSX.Element }) {
  const { data, problem, read } = useReading(mcpToolDefinitions, { projectId, serverName, names: [tool.name] });
  if (problem) return <ErrorNote problem={problem} retry={read} />;
  const one = data?.mcpToolReview.tools[0];
  return one ? show(one) : <Skeleton rows={1} height={60} />;
}

/** Removed and added lines, or both texts if they differ too much. */
function difference({ definition, reviewedDefinition: before }: Definitions) {
  if (!before) return <p class="muted">The approved definition was not recorded.</p>;
  if (!definition) return <p class="muted">The server no longer has this tool.</p>;
  const parts = diffLines(before, definition, { maxEditLength: mostEdits });
  if (!parts)
    return (
      <ScrollBlock class="result diff">
        <del>{before}</del>
        <ins>{definition}</ins>
      </ScrollBlock>
    );
  return (
    <ScrollBlock class="result diff">
      {parts.map(({ added, removed, value }, i) => {
        if (added) return <ins key={i}>{marked('+ ', value)}</ins>;
        return removed ? <del key={i}>{marked('- ', value)}</del> : contextOf(value);
      })}
    </ScrollBlock>
  );
}

const marked = (mark: string, value: string): string => value.replace(/^(?=.)/gm, mark);

/** Unchanged lines, shortened to the two next to each change. */
function contextOf(value: string): string {
  const lines = value.split('\n').slice(0, -1);
  const kept = lines.length > 5 ? [...lines.slice(0, 2), '…', ...lines.slice(-2)] : lines;
  return kept.map((line) => `  ${line}\n`).join('');
}
