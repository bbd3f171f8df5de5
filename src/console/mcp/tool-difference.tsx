// The current definition of a tool and how it differs from the approved one, loaded when a person opens it.
import { useState } from 'preact/hooks';
import { type McpToolDefinitionsQuery, type McpToolReviewQuery, mcpToolDefinitions } from '../generated/documents.ts';
import { ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { TextDifference } from '../kit/text-difference.tsx';

export type Review = McpToolReviewQuery['mcpToolReview'];
export type Tool = Review['tools'][number];

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

function difference({ definition, reviewedDefinition: before }: Definitions) {
  if (!before) return <p class="muted">The approved definition was not recorded.</p>;
  if (!definition) return <p class="muted">The server no longer has this tool.</p>;
  return <TextDifference before={before} after={definition} />;
}
