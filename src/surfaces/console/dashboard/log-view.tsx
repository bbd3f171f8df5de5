// The text of a log: in blocks of lines that the browser lays out when they come into view, so that a million lines scroll; with
// search, wrapping, following and download.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { hasColours, partsOf, plain } from './ansi.ts';
import { useBeat } from './reading.ts';
import { plural } from './words.tsx';

const linesPerBlock = 200;

interface Properties {
  content: string;
  fileName: string;
  /** Reads the newest again; absent where the log has ended. */
  refresh?: (() => void) | undefined;
}

export function LogView({ content, fileName, refresh }: Properties) {
  const [wanted, setWanted] = useState('');
  const [wraps, setWraps] = useState(true);
  const [follows, setFollows] = useState(false);
  const box = useRef<HTMLElement>(null);
  const lines = useMemo(() => content.replace(/\n$/, '').split('\n'), [content]);
  const shown = useMemo(() => {
    const words = wanted.toLowerCase();
    return words ? lines.filter((line) => plain(line).toLowerCase().includes(words)) : lines;
  }, [lines, wanted]);
  useBeat(() => {
    if (follows) refresh?.();
  });
  useLayoutEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follows, content]);
  const blocks = useMemo(
    () =>
      Array.from({ length: Math.ceil(shown.length / linesPerBlock) }, (_, i) =>
        shown.slice(i * linesPerBlock, (i + 1) * linesPerBlock),
      ),
    [shown],
  );
  return (
    <>
      <div class="filters">
        <label>
          Find in the log
          <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
        </label>
        <span class="muted small" role="status">
          {wanted ? `${shown.length} of ${plural(lines.length, 'line')}` : plural(lines.length, 'line')}
        </span>
        <Toggle label="Wrap lines" isOn={wraps} set={setWraps} />
        {refresh && <Toggle label="Follow" isOn={follows} set={setFollows} />}
        <button type="button" class="quiet slim" onClick={() => download(plain(content), fileName)}>
          Download
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1) */}
      <section class={`log ${wraps ? '' : 'no-wrap'}`} ref={box} tabIndex={0} aria-label="Content of the log">
        {blocks.map((block, i) => (
          <pre key={i} style={{ containIntrinsicHeight: `auto ${block.length * 1.4}em` }}>
            <Block text={block.join('\n')} />
          </pre>
        ))}
      </section>
    </>
  );
}

const Block = ({ text }: { text: string }) =>
  hasColours(text) ? (
    <span>
      {partsOf(text).map(({ text: part, name }, i) =>
        name ? (
          <span key={i} class={name}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </span>
  ) : (
    <span>{text}</span>
  );

const Toggle = ({ label, isOn, set }: { label: string; isOn: boolean; set: (isOn: boolean) => void }) => (
  <button type="button" class="quiet slim toggle" aria-pressed={isOn} onClick={() => set(!isOn)}>
    {label}
  </button>
);

function download(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
