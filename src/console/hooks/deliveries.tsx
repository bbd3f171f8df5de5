// Events that arrived at a hook, newest first: the effect of each as text, with its headers and body.
import { useState } from 'preact/hooks';
import {
  approveInboundDelivery,
  type DeliveryRowFragment,
  type InboundDeliveryStatus,
  inboundDeliveries,
  inboundDelivery,
  redeliverInboundDelivery,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FilterChoice, useWord } from '../kit/filters.tsx';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, ErrorNote, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useReading, useRefresh } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { Time } from '../kit/words.tsx';

const statuses: readonly InboundDeliveryStatus[] = ['started', 'waiting', 'ignored', 'received', 'failed'];
const spoken: Readonly<Record<InboundDeliveryStatus, string>> = {
  received: 'pending',
  started: 'started',
  waiting: 'needs approval',
  ignored: 'ignored',
  failed: 'failed',
};

export function Deliveries({ hookId }: { hookId: string }) {
  const status = useWord('status', statuses);
  const list = useList(inboundDeliveries, { hookId, status, limit: 25 }, (data) => data.inboundDeliveries);
  useRefresh(list.read);
  return (
    <Card title="Events">
      <div class="filters">
        <FilterChoice name="status" label="Outcome" options={statuses.map((one) => [one, spoken[one]] as const)} />
      </div>
      <RowList
        list={list}
        skeleton={<Skeleton rows={6} height={54} />}
        empty={
          <p>
            {status
              ? 'No event has this outcome.'
              : 'No events yet. Enter the URL and the secret in the webhook settings of the sender; its first event appears here.'}
          </p>
        }
      >
        {(delivery) => <Delivery key={delivery.id} delivery={delivery} read={list.read} />}
      </RowList>
    </Card>
  );
}

interface Properties {
  delivery: DeliveryRowFragment;
  read(): void;
}

function Delivery({ delivery, read }: Properties) {
  const { id: deliveryId, hookId, event, title, status, redeliveryOf, receivedAt } = delivery;
  const [isOpen, setOpen] = useState(false);
  const mayStart = may('integrations:write') && may('missions:run');
  return (
    <li>
      <div class="next-row wrap">
        <Pill status={spoken[status]} />
        <div class="grow break">
          <strong>{title ?? event}</strong>
          <div class="muted small">
            {title !== null && title !== event && `${event} · `}
            <Time at={receivedAt} />
            {redeliveryOf !== null && ' · delivered again'}
          </div>
        </div>
        {status === 'waiting' && mayStart && (
          <Action
            label="Start"
            describes={`Start: ${title ?? event}`}
            class="slim"
            act={(key) => mutate(approveInboundDelivery, { hookId, deliveryId }, key).then(read)}
          />
        )}
      </div>
      <Outcome delivery={delivery} />
      {delivery.answerProblems.map((words) => (
        <p class="small outcome-words" key={words}>
          {words}
        </p>
      ))}
      <details class="delivery" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary class="small">
          Show the event<span class="unseen"> {title ?? event}</span>
        </summary>
        {isOpen && <Request hookId={hookId} deliveryId={deliveryId} mayStart={mayStart} read={read} />}
      </details>
    </li>
  );
}

/** The effect on each task and automation, or the reason why there was none. */
function Outcome({ delivery: { outcomes, reason } }: { delivery: DeliveryRowFragment }) {
  if (outcomes.length === 0) return reason ? <p class="small outcome-words">{reason}</p> : null;
  return (
    <ul class="small outcome-words">
      {outcomes.map(({ recurringId, name, result, reason: why, runId }) => (
        <li key={recurringId}>
          <a href={pageAt(`/${recurringId.startsWith('aut_') ? 'automations' : 'tasks'}/${recurringId}`)}>{name}</a>:{' '}
          {runId ? (
            <>
              started <a href={pageAt(`/runs/${runId}`)}>{runId}</a>
            </>
          ) : (
            <>
              {result === 'waiting' && 'waits for approval. '}
              {result === 'later' && 'is retried. '}
              {why}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

interface RequestProperties {
  hookId: string;
  deliveryId: string;
  mayStart: boolean;
  read(): void;
}

function Request({ hookId, deliveryId, mayStart, read }: RequestProperties) {
  const { data, problem, read: retry } = useReading(inboundDelivery, { hookId, deliveryId });
  if (problem) return <ErrorNote problem={problem} retry={retry} />;
  if (!data) return <Skeleton rows={2} height={60} />;
  const { headers, payload } = data.inboundDelivery;
  return (
    <>
      {headers && (
        <>
          <h3>Headers</h3>
          <ScrollBlock>{headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}</ScrollBlock>
        </>
      )}
      <h3>Body</h3>
      {payload === null ? (
        <p class="muted small">The body was not stored, because no rule uses events of this name.</p>
      ) : (
        <>
          <ScrollBlock>{indented(payload)}</ScrollBlock>
          {mayStart && (
            <Action
              label="Deliver again"
              question="The event is processed again and may start missions again."
              act={(key) => mutate(redeliverInboundDelivery, { hookId, deliveryId }, key).then(read)}
            />
          )}
        </>
      )}
    </>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
