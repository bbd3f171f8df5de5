// A tool call of an agent: its input, result, failure and exit code.
import { useState } from 'preact/hooks';
import type { FragmentFragment } from '../generated/documents.ts';
import { AnsiText } from '../kit/ansi-text.tsx';
import { plural } from '../kit/words.tsx';

/** Lines and characters of a result that are shown before a person asks for all of them. */
const [fewLines, fewCharacters] = [6, 1_200];

/** Moves the result of a call, which comes in a later fragment with the same id, into the fragment of the call. */
export function joinCalls(fragments: readonly FragmentFragment[]): FragmentFragment[] {
  const joined: FragmentFragment[] = [];
  const calls = new Map<string, number>();
  for (const fragment of fragments) {
    const { kind, toolUseId, result, failed, exitCode } = fragment;
    const first = kind === 'action' && toolUseId ? calls.get(toolUseId) : undefined;
    if (first === undefined) {
      if (kind === 'action' && toolUseId) calls.set(toolUseId, joined.length);
      joined.push(fragment);
    } else {
      const call = joined[first]!;
      joined[first] = {
        ...call,
        result: result ?? call.result,
        failed: failed ?? call.failed,
        exitCode: exitCode ?? call.exitCode,
      };
    }
  }
  return joined;
}

export const hasFailed = ({ failed, exitCode }: FragmentFragment): boolean => failed === true || (exitCode ?? 0) !== 0;

/** The outcome of the call in words. Shows nothing while the call runs, or if the runtime does not report the outcome. */
export function CallEnd({ call }: { call: FragmentFragment }) {
  if (call.exitCode !== null) {
    return <span class={`call-end ${call.exitCode === 0 ? '' : 'bad-text'}`}>exit code {call.exitCode}</span>;
  }
  if (call.failed === null) return null;
  return <span class={`call-end ${call.failed ? 'bad-text' : ''}`}>{call.failed ? 'failed' : 'done'}</span>;
}

export function CallResult({ call }: { call: FragmentFragment }) {
  const [showsAll, setShowsAll] = useState(false);
  const text = call.result ?? '';
  if (text.trim() === '') return null;
  const lines = text.split('\n');
  const isLong = lines.length > fewLines || text.length > fewCharacters;
  // The end of a result is shown when the call has failed, because an error tends to be there.
  const some = hasFailed(call)
    ? lines.slice(-fewLines).join('\n').slice(-fewCharacters)
    : lines.slice(0, fewLines).join('\n').slice(0, fewCharacters);
  return (
    <>
      <pre class={`call-result ${hasFailed(call) ? 'bad' : ''}`}>
        {isLong && !showsAll && hasFailed(call) && '…\n'}
        <AnsiText text={isLong && !showsAll ? some : text} />
        {isLong && !showsAll && !hasFailed(call) && '\n…'}
      </pre>
      {isLong && (
        <button type="button" class="link small" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? 'Show less' : `Show all, ${plural(lines.length, 'line')}`}
        </button>
      )}
    </>
  );
}
