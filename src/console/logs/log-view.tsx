// The text of a log with search, wrapping, following and download.
import { useMemo, useState } from 'preact/hooks';
import { plain } from '../kit/ansi.ts';
import { Action, Empty, ErrorNote, Skeleton } from '../kit/pieces.tsx';
import { saveFile } from '../kit/save-file.ts';
import { VirtualLines } from '../kit/virtual-lines.tsx';
import { plural, size, Time } from '../kit/words.tsx';
import { type LogKey, useLog } from './log-reading.ts';

/** An empty log, or one that was deleted under the retention settings of the organization. */
export const EmptyLog = ({ deletedAt }: { deletedAt: number | null }) => (
  <Empty>
    {deletedAt === null ? (
      'This part of the log is empty.'
    ) : (
      <>
        The log was deleted <Time at={deletedAt} />, under the retention settings of the organization.
      </>
    )}
  </Empty>
);

/** `canGrow`: whether the session is still open. `news`: a value that is different after each change of the sandbox. */
export function LogView({ log, canGrow, news }: { log: LogKey; canGrow: boolean; news: unknown }) {
  const [wanted, setWanted] = useState('');
  const [wraps, setWraps] = useState(true);
  const [isTimed, setTimed] = useState(false);
  const [follows, setFollows] = useState(false);
  const [toEnd, setToEnd] = useState(0);
  const { text, bytes, deletedAt, cursor, isReading, problem, ...reading } = useLog(log, { follows, canGrow, news });
  const found = useMemo(() => (wanted === '' ? null : text.linesWith(wanted)), [text, text.length, text.size, wanted]);
  const lengths = useMemo(
    () => () => {
      const all = found ? Uint32Array.from(found, (line) => text.lengthOf(line)) : text.lengths();
      return isTimed ? all.map((length) => length + timeLength) : all;
    },
    [found, text, text.length, text.size, isTimed],
  );
  const lineAt = (line: number) => (isTimed ? timeBefore(text.timeOf(line)) : '') + text.line(line);
  if (text.size === 0) {
    if (problem) return <ErrorNote problem={problem} retry={reading.retry} />;
    return isReading ? <Skeleton rows={1} height={320} /> : <EmptyLog deletedAt={deletedAt} />;
  }
  const lines = plural(text.length, 'line');
  const follow = (isOn: boolean) => {
    setFollows(isOn);
    if (isOn) setToEnd((before) => before + 1);
  };
  const save = async () => {
    const parts = (await reading.readParts()).map(plain);
    saveFile(new Blob(parts, { type: 'text/plain' }), `${log.role}-${log.sessionId}-${log.part}.log`);
  };
  return (
    <>
      <div class="filters">
        <label>
          Find in the log
          <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
        </label>
        <span class="muted small" role="status">
          {found ? `${found.length} of ${lines}` : lines}
          {cursor && ` read, of ${size(bytes)}`}
        </span>
        <Toggle label="Wrap lines" isOn={wraps} set={setWraps} />
        <Toggle label="Times" isOn={isTimed} set={setTimed} />
        {canGrow && <Toggle label="Follow" isOn={follows} set={follow} />}
        {cursor && !reading.isFull && (
          <button type="button" class="quiet slim" onClick={reading.isReadingAll ? reading.stop : reading.readAll}>
            {reading.isReadingAll ? 'Stop reading' : 'Load whole log'}
          </button>
        )}
        <Action label="Download" act={save} />
      </div>
      {problem && <ErrorNote problem={problem} retry={reading.retry} />}
      {reading.isFull && (
        <p class="muted small">The log is too long to show its beginning. Download the log instead.</p>
      )}
      <VirtualLines
        key={wanted}
        count={found ? found.length : text.length}
        lineAt={(index) => lineAt(found ? found[index]! : index)}
        lengths={lengths}
        origin={found ? found.findIndex((line) => line >= text.prepended) : text.prepended}
        wraps={wraps}
        toEnd={toEnd}
        label="Content of the log"
        onStart={found || problem ? undefined : reading.readOlder}
      />
    </>
  );
}

/** Each line of the log can begin with its arrival time, which takes this many characters. */
const timeLength = '00:00:00 '.length;

/** The time of day when a line arrived, muted; blank when that is not known. */
const timeBefore = (at: number): string =>
  at === 0 ? ' '.repeat(timeLength) : `\u001b[90m${new Date(at).toTimeString().slice(0, 8)} \u001b[39m`;

const Toggle = ({ label, isOn, set }: { label: string; isOn: boolean; set: (isOn: boolean) => void }) => (
  <button type="button" class="quiet slim toggle" aria-pressed={isOn} onClick={() => set(!isOn)}>
    {label}
  </button>
);
