// A text that an agent left behind, shown in place when it is asked for.
import { useState } from 'preact/hooks';

/** Bytes and characters of it that are shown. */
const most = 20_000;

export const isText = (type: string): boolean => /^(text\/|application\/(json|xml|x-ndjson))|\+(json|xml)$/.test(type);

export function TextPreview({ url, type, name }: { url: string; type: string; name: string }) {
  const [text, setText] = useState<string | null>(null);
  const read = async () => {
    if (text !== null) return;
    try {
      const response = await fetch(url, { headers: { range: `bytes=0-${most - 1}` }, credentials: 'omit' });
      if (!response.ok) throw new Error(String(response.status));
      setText(laidOut(await response.text(), type));
    } catch {
      setText('It could not be read. Download it instead.');
    }
  };
  return (
    <details class="text-preview" onToggle={({ currentTarget }) => currentTarget.open && read()}>
      <summary>
        Show <span class="unseen">{name}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1) */}
      <pre class="result" tabIndex={0}>
        {text ?? 'Loading …'}
      </pre>
    </details>
  );
}

function laidOut(text: string, type: string): string {
  if (!type.includes('json')) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Cut off, or several documents.
    return text;
  }
}
