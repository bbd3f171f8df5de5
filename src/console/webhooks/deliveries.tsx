// Events that were sent to an endpoint, newest first: the response to each, its body, and a button that sends it again.
import { useState } from 'preact/hooks';
import {
  resendWebhookDeliveries,
  resendWebhookDelivery,
  type WebhookDeliveryRowFragment,
  type WebhookDeliveryStatus,
  webhookDeliveries,
  webhookDelivery,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { asOptions, FilterChoice, useWord } from '../kit/filters.tsx';
import { ListView } from '../kit/list-view.tsx';
import { may } from '../kit/page.ts';
import { PeriodFilter, usePeriod } from '../kit/period.tsx';
import { Action, Card, ErrorNote, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useReading, useRefresh } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { plural, Time } from '../kit/words.tsx';

const statuses: readonly WebhookDeliveryStatus[] = ['pending', 'delivered', 'failed'];

export function WebhookDeliveries({ endpointId }: { endpointId: string }) {
  const status = useWord('status', statuses);
  const period = usePeriod();
  const list = useList(
    webhookDeliveries,
    { endpointId, status, ...period, limit: 25 },
    (data) => data.webhookDeliveries,
  );
  useRefresh(list.read);
  const isFiltered = status !== null || period.createdFrom !== null || period.createdBefore !== null;
  return (
    <Card title="Deliveries">
      <div class="filters">
        <FilterChoice name="status" label="State" options={asOptions(statuses)} />
        <PeriodFilter />
      </div>
      <ListView
        list={list}
        skeleton={<Skeleton rows={6} height={54} />}
        empty={
          <p>
            {isFiltered
              ? 'No delivery matches these filters.'
              : 'Nothing has been sent yet. The next event appears here.'}
          </p>
        }
      >
        {(rows) => (
          <>
            <ul class="rows">
              {rows.map((delivery) => (
                <Delivery key={delivery.id} delivery={delivery} read={list.read} />
              ))}
            </ul>
            {status !== 'pending' && may('webhooks:write') && (
              <ResendAll range={{ endpointId, status, ...period }} read={list.read} />
            )}
          </>
        )}
      </ListView>
    </Card>
  );
}

interface Range extends ReturnType<typeof usePeriod> {
  endpointId: string;
  status: WebhookDeliveryStatus | null;
}

/** Sends the events of the filtered list once more. */
function ResendAll({
  range: { endpointId, status, createdFrom, createdBefore },
  read,
}: {
  range: Range;
  read(): void;
}) {
  const [count, setCount] = useState<number | null>(null);
  const input = {
    createdFrom: createdFrom ?? 0,
    ...(createdBefore !== null && { createdBefore }),
    ...(status !== null && { status }),
  };
  return (
    <div class="after-rows">
      <Action
        label="Send all again"
        question="Every event in this list, including further pages, is sent again with the same ID. Events that still wait are left out."
        act={async (key) => {
          const { resent } = await mutate(resendWebhookDeliveries, { endpointId, input }, key);
          setCount(resent.count);
          read();
        }}
      />
      {count !== null && (
        <p class="hint after" role="status">
          {plural(count, 'event')} sent again.
        </p>
      )}
    </div>
  );
}

interface Properties {
  delivery: WebhookDeliveryRowFragment;
  read(): void;
}

function Delivery({ delivery, read }: Properties) {
  const { number, type, status, attempts, attemptedAt, dueAt, answerStatus, error, resendOf, createdAt } = delivery;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div class="next-row wrap">
        <Pill status={status} />
        <div class="grow break">
          <strong>{type}</strong>
          <div class="muted small">
            {number} · <Time at={attemptedAt ?? createdAt} />
            {attempts > 0 && ` · ${plural(attempts, 'attempt')}`}
            {resendOf !== null && ' · sent again'}
          </div>
        </div>
        {answerStatus !== null && <span class="when">{answerStatus}</span>}
      </div>
      {error && <p class="small outcome-words">{error}</p>}
      {dueAt !== null && attempts > 0 && (
        <p class="small outcome-words">
          Next attempt: <Time at={dueAt} />
        </p>
      )}
      <details class="delivery" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary class="small">
          Show request and response<span class="unseen"> {number}</span>
        </summary>
        {isOpen && <Exchange delivery={delivery} read={read} />}
      </details>
    </li>
  );
}

function Exchange({ delivery: { id: webhookDeliveryId, endpointId, answerStatus }, read }: Properties) {
  const { data, problem, read: retry } = useReading(webhookDelivery, { endpointId, webhookDeliveryId });
  if (problem) return <ErrorNote problem={problem} retry={retry} />;
  if (!data) return <Skeleton rows={2} height={60} />;
  const { messageId, body, answerBody, durationMs } = data.webhookDelivery;
  return (
    <>
      <h3>Request</h3>
      <p class="small break">
        webhook-id: <code>{messageId}</code>
      </p>
      <ScrollBlock>{JSON.stringify(JSON.parse(body), null, 2)}</ScrollBlock>
      {answerBody !== null && (
        <>
          <h3>
            Response {answerStatus} after {durationMs} ms
          </h3>
          <ScrollBlock>{answerBody || 'Empty'}</ScrollBlock>
        </>
      )}
      {may('webhooks:write') && (
        <Action
          label="Send again"
          act={(key) => mutate(resendWebhookDelivery, { endpointId, webhookDeliveryId }, key).then(read)}
        />
      )}
    </>
  );
}
