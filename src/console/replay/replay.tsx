// A mission as it was at a moment, which the URL names. A slider and a list of events choose the moment.
import { shownModel } from '../../surfaces/console/models.ts';
import { type RunMomentQuery, runEvents, runMoment } from '../generated/documents.ts';
import { Copy } from '../kit/copy-as.tsx';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Empty, ErrorNote, Loaded, Pill, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useReading } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { dollars, plural, visible } from '../kit/words.tsx';
import { Shares } from './shares.tsx';
import './replay.css';

type Moment = RunMomentQuery['runMoment'];

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function Replay({ id: runId }: { id: string }) {
  const { data, problem, read } = useReading(runEvents, { runId });
  const run = data?.run;
  return (
    <>
      <Heading
        title={run ? `Replay of ${run.missionTitle ?? 'the mission'}` : null}
        above={[
          [pageAt('/runs'), 'Missions'],
          [pageAt(`/runs/${runId}`), run?.missionTitle ?? 'Mission'],
        ]}
      />
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!data ? !problem && <Skeleton rows={3} height={120} /> : <Player runId={runId} events={data.runEvents.data} />}
      {may('missions:run') && <Shares runId={runId} />}
    </>
  );
}

interface PlayerProperties {
  runId: string;
  events: readonly { at: number; kind: string; text: string }[];
}

function Player({ runId, events }: PlayerProperties) {
  const [asked, ask] = useFilter('at');
  const last = events.length - 1;
  const at = asked && /^\d{1,15}$/.test(asked) ? Number(asked) : events[last]!.at;
  const position = Math.max(
    0,
    events.findLastIndex((event) => event.at <= at),
  );
  const { data, problem, read } = useReading(runMoment, { runId, at });
  const moveTo = (index: number) => ask(String(events[Math.max(0, Math.min(last, index))]!.at));
  return (
    <>
      <Card title="Moment" aside={<Copy text={location.href} label="Copy link" describes="Copy link to this moment" />}>
        <div class="replay-bar">
          <button type="button" class="quiet slim" disabled={position === 0} onClick={() => moveTo(position - 1)}>
            Back
          </button>
          <input
            type="range"
            min={0}
            max={last}
            value={position}
            aria-label="Moment"
            aria-valuetext={`${clock.format(at)}: ${events[position]!.text}`}
            onChange={({ currentTarget }) => moveTo(Number(currentTarget.value))}
          />
          <button type="button" class="quiet slim" disabled={position === last} onClick={() => moveTo(position + 1)}>
            Next
          </button>
        </div>
        <p role="status">
          {clock.format(at)}
          <span class="muted">
            {' '}
            · event {position + 1} of {events.length} · {events[position]!.text}
          </span>
        </p>
      </Card>
      <Loaded value={data} problem={problem} retry={read} rows={3} height={120}>
        {(data) => <Shown moment={data.runMoment} />}
      </Loaded>
    </>
  );
}

const Shown = ({ moment }: { moment: Moment }) => (
  <div class="columns">
    <div class="column">
      <Card title="Transcript">
        <Entries moment={moment} />
      </Card>
      {moment.log !== '' && (
        <Card title="Log">
          <ScrollBlock>{moment.log}</ScrollBlock>
        </Card>
      )}
    </div>
    <div class="column">
      <Card title="State" aside={<Pill status={moment.status} />}>
        <p>{dollars(moment.costUsd)} so far</p>
        {moment.steps.length > 0 && (
          <ul class="rows">
            {moment.steps.map(({ id, role, status, agentName, model, error }) => (
              <li key={id} class="next-row wrap">
                <span>{role}</span>
                <span class="muted small">
                  {agentName}
                  {shownModel(model) && `, ${model}`}
                </span>
                <Pill status={status} />
                {error && <span class="small">{error}</span>}
              </li>
            ))}
          </ul>
        )}
      </Card>
      {moment.plan.length > 0 && (
        <Card title="Plan">
          <ol>
            {moment.plan.map(({ content, status }, i) => (
              <li key={i}>
                {content} <span class="muted small">{status.replace('_', ' ')}</span>
              </li>
            ))}
          </ol>
        </Card>
      )}
      {moment.paths && (
        <Card title="Changed files" aside={plural(moment.paths.length, 'file')}>
          <ul>
            {moment.paths.map((path) => (
              <li key={path}>
                <code>{visible(path)}</code>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  </div>
);

/** Texts of agents and people, sorted by time. */
function Entries({ moment: { fragments, messages } }: { moment: Moment }) {
  const entries = [
    ...fragments
      .filter(({ kind }) => kind !== 'plan' && kind !== 'prompt')
      .map(({ at, kind, body, action, result }) => ({
        at,
        who: kind as string,
        text: [action, body, result].filter(Boolean).join('\n'),
      })),
    ...messages.map(({ createdAt: at, author, kind, text }) => ({ at, who: author, text: text || kind })),
  ].sort((a, b) => a.at - b.at);
  if (entries.length === 0) return <Empty>No messages yet.</Empty>;
  return (
    <ul class="rows">
      {entries.map(({ at, who, text }, i) => (
        <li key={i}>
          <span class="muted small">
            {clock.format(at)}, {who}
          </span>
          <p class="prompt">{text}</p>
        </li>
      ))}
    </ul>
  );
}
