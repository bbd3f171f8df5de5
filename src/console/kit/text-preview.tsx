// Preview of a text artifact on request: Markdown rendered, JSON as a tree, anything else as plain text.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ScrollBlock } from './scroll-block.tsx';
import { size } from './words.tsx';

/** Maximum number of bytes that are read. */
const maxCharacters = 200_000;

export const isText = (type: string): boolean => /^(text\/|application\/(json|xml|x-ndjson))|\+(json|xml)$/.test(type);

interface Properties {
  url: string;
  type: string;
  name: string;
  sizeBytes: number;
}

export function TextPreview({ url, type, name, sizeBytes }: Properties) {
  const [content, setContent] = useState<ComponentChildren>(null);
  const read = async () => {
    if (content !== null) return;
    try {
      const response = await fetch(url, { headers: { range: `bytes=0-${maxCharacters - 1}` }, credentials: 'omit' });
      // An empty file has no range to request.
      if (!response.ok && response.status !== 416) throw new Error(String(response.status));
      setContent(await laidOut(response.ok ? await response.text() : '', type));
    } catch {
      setContent('The preview failed. Download the file instead.');
    }
  };
  return (
    <details class="text-preview" onToggle={({ currentTarget }) => currentTarget.open && read()}>
      <summary>
        Show <span class="unseen">{name}</span>
      </summary>
      {content ?? 'Loading …'}
      {content !== null && sizeBytes > maxCharacters && (
        <p class="muted small">
          The first {size(maxCharacters)} of {size(sizeBytes)}.
        </p>
      )}
    </details>
  );
}

async function laidOut(text: string, type: string): Promise<ComponentChildren> {
  if (text === '') return <p class="muted">The file is empty.</p>;
  if (/^text\/(x-)?markdown$/.test(type)) {
    const { Markdown } = await import('./markdown.tsx');
    return <Markdown text={text} />;
  }
  if (/\bjson$/.test(type)) {
    try {
      const value: unknown = JSON.parse(text);
      const { JsonTree } = await import('./json-tree.tsx');
      return (
        <div class="json">
          <JsonTree value={value} />
        </div>
      );
    } catch {
      // Text that is cut off, or that holds several documents, is shown as plain text.
    }
  }
  return <ScrollBlock>{text}</ScrollBlock>;
}
