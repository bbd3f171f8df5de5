// The audit log: who changed what, with the difference of each change. Filters are in the URL, so that other pages can link to the history
// of a record.
import { deviceName } from '../../surfaces/console/device.ts';
import { type AuditEventsQuery, auditEvents } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { asOptions, FilterChoice, OrderFilter, ProjectFilter, SearchFilter, useOrder } from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { PeriodFilter, usePeriod } from '../kit/period.tsx';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useList } from '../kit/reading.ts';
import { TextDifference } from '../kit/text-difference.tsx';
import { Time } from '../kit/words.tsx';
import { Retention } from './retention.tsx';
import { Streaming } from './streaming.tsx';
import './audit.css';

type Event = AuditEventsQuery['auditEvents']['data'][number];
type Change = Event['changes'][number];

/** The kinds of records that the filter offers; the URL of the page accepts any kind. */
const nouns = [
  ...['member', 'invite', 'session', 'token', 'application', 'runtime_token', 'connector', 'project', 'agent'],
  ...['sandbox_template', 'secret', 'budget', 'recurring_mission', 'run', 'mcp_server', 'organization'],
];

export function AuditLog() {
  const [actorId, setActor] = useFilter('actorId');
  const [targetType] = useFilter('targetType');
  const [targetId] = useFilter('targetId');
  const [projectId] = useFilter('projectId');
  const { createdFrom: occurredFrom, createdBefore: occurredBefore } = usePeriod();
  const order = useOrder();
  const filter = { actorId, targetType, targetId, projectId, occurredFrom, occurredBefore, order };
  const list = useList(
    auditEvents,
    { ...filter, limit: 50 },
    (data) => data.auditEvents,
    ({ number }) => String(number),
  );
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null)) as Record<
    string,
    string
  >;
  const isFiltered = Object.keys(given).length > 0;
  return (
    <>
      <Heading title="Audit log">
        <CopyAs
          path={`/audit-events${isFiltered ? `?${new URLSearchParams(given)}` : ''}`}
          graphql="{ auditEvents { data { number occurredAt action actor { name } } nextCursor } }"
          client={`client.auditEvents(${isFiltered ? JSON.stringify(given) : ''})`}
          cli="aep audit"
        />
      </Heading>
      <div class="filters">
        <FilterChoice name="targetType" label="Kind" options={asOptions(nouns)} />
        <SearchFilter name="targetId" label="Record ID" />
        <ProjectFilter />
        <PeriodFilter />
        <OrderFilter />
        {actorId && (
          <button type="button" class="quiet slim" onClick={() => setActor(null)}>
            Show all actors
          </button>
        )}
      </div>
      <Card title="Changes">
        <ListView
          list={list}
          skeleton={<Skeleton rows={8} />}
          empty={<p>{isFiltered ? 'No change matches these filters.' : 'Nothing has been changed yet.'}</p>}
        >
          {(events) => (
            <ul class="audit-rows">
              {events.map((event) => (
                <Row key={event.number} event={event} />
              ))}
            </ul>
          )}
        </ListView>
      </Card>
      <Streaming />
      <Retention />
    </>
  );
}

function Row({ event }: { event: Event }) {
  const { action, actor, onBehalfOf, occurredAt, number, targets, changes } = event;
  const [target] = targets;
  return (
    <li>
      <details>
        <summary>
          <span class="muted small">
            <Time at={occurredAt} />
          </span>
          <strong>
            {actor.name ?? actor.id ?? actor.type}
            {onBehalfOf && ` for ${onBehalfOf.name ?? onBehalfOf.id}`}
          </strong>
          <code>{action}</code>
          <span>{nameOf(target!)}</span>
          <span class="muted small">{number}</span>
        </summary>
        <Facts event={event} />
        {changes.map((change) => (
          <Difference key={change.path} change={change} />
        ))}
      </details>
    </li>
  );
}

/** A session is named after its device; the whole User-Agent is shown among the facts of the event. */
const nameOf = ({ type, id, name }: Event['targets'][number]): string =>
  type === 'session' ? deviceName(name) : (name ?? id);

function Facts({ event }: { event: Event }) {
  const { actor, onBehalfOf, credentialId, surface, operation, requestId, traceId, sourceAddress, targets } = event;
  const { personalValues } = event;
  const person = onBehalfOf?.id ?? actor.id;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ['Actor', actor.type],
    ['Credential', credentialId],
    ['Through', [surface, operation].filter(Boolean).join(' · ') || null],
    ['IP address', sourceAddress],
    ['Request', requestId],
    ['Browser', targets[0]!.type === 'session' ? targets[0]!.name : null],
    ['Trace', traceId],
    ['Personal values', personalValues === 'readable' ? null : personalValues],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="break">{value}</dd>
            </div>
          ),
        )}
      </dl>
      <p class="links small">
        {person && <a href={pageAt(`/audit?actorId=${encodeURIComponent(person)}`)}>All changes by this actor</a>}
        {targets.map(({ type, id }) => (
          <a key={id} href={pageAt(`/audit?targetId=${encodeURIComponent(id)}`)}>
            History of this {type.replaceAll('_', ' ')}
          </a>
        ))}
      </p>
    </>
  );
}

const textOf = (value: unknown): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

const Difference = ({ change: { path, before, after } }: { change: Change }) => (
  <div>
    <div class="small">
      <code>{path}</code>
    </div>
    <TextDifference before={lined(textOf(before))} after={lined(textOf(after))} />
  </div>
);

/** Ends the last line of the text with a line break, because a diff compares whole lines. */
const lined = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
