// One webhook endpoint: its event types, its secret, and its deliveries.
import { useState } from 'preact/hooks';
import { HistoryLink } from '../audit/history-link.tsx';
import {
  deleteWebhookEndpoint,
  type EndpointPartsFragment,
  replaceWebhookSecret,
  type TestWebhookEndpointMutation,
  testWebhookEndpoint,
  updateWebhookEndpoint,
  webhookEndpoint,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { DeleteRecord } from '../kit/delete-record.tsx';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Loaded, Pill } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { ScrollBlock } from '../kit/scroll-block.tsx';
import { useShownOnce } from '../kit/shown-once.ts';
import { plural, Time } from '../kit/words.tsx';
import { WebhookDeliveries } from './deliveries.tsx';
import { EndpointFields, endpointLabels, inputOf, valuesOf } from './endpoint-fields.tsx';
import { type EndpointSecret, Secret } from './secret.tsx';
import { stateOf } from './webhooks.tsx';

export function Webhook({ id: endpointId }: { id: string }) {
  const { data, problem, read } = usePolledReading(webhookEndpoint, { endpointId });
  const endpoint = data?.endpoint;
  return (
    <>
      <Heading title={endpoint?.name ?? null} above={[[pageAt('/webhooks'), 'Webhooks']]}>
        <HistoryLink id={endpointId} />
        <CopyAs
          path={`/webhook-endpoints/${endpointId}/deliveries`}
          graphql={`{ webhookDeliveries(endpointId: "${endpointId}") { data { id type status answerStatus error } nextCursor } }`}
          client={`client.webhookDeliveries({ endpointId: '${endpointId}' })`}
        />
      </Heading>
      <Loaded value={endpoint} problem={problem} retry={read} rows={4} height={96}>
        {(endpoint) => (
          <div class="columns">
            <WebhookDeliveries endpointId={endpointId} />
            <About endpoint={endpoint} read={read} />
          </div>
        )}
      </Loaded>
    </>
  );
}

interface Properties {
  endpoint: EndpointPartsFragment;
  read(): void;
}

const reasons = {
  person: 'Nothing is sent. Once enabled, the endpoint continues where it stopped.',
  gone: 'The receiver has answered with status 410. Once enabled, the endpoint continues where it stopped.',
  failing: 'Every attempt in five days has failed. Once enabled, the endpoint continues where it stopped.',
};

function About({ endpoint, read }: Properties) {
  const { url, types, projectIds, ordered, disabledReason, failingSince, createdAt } = endpoint;
  const [replaced, setReplaced] = useShownOnce<EndpointSecret>();
  return (
    <Card title="Endpoint" aside={<Pill status={stateOf(endpoint)} />}>
      {disabledReason && <p class="note">{reasons[disabledReason]}</p>}
      <dl class="facts">
        <dt>URL</dt>
        <dd class="break">{url}</dd>
        <dt>Types</dt>
        <dd>{types.join(', ') || 'All'}</dd>
        <dt>Projects</dt>
        <dd>{projectIds.length === 0 ? 'All' : plural(projectIds.length, 'project')}</dd>
        <dt>Order</dt>
        <dd>{ordered ? 'Kept' : 'Any'}</dd>
        {failingSince !== null && (
          <>
            <dt>Failing since</dt>
            <dd>
              <Time at={failingSince} />
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </dl>
      {replaced && <Secret created={replaced} close={() => setReplaced(null)} />}
      {may('webhooks:write') && <Actions endpoint={endpoint} read={read} take={setReplaced} />}
    </Card>
  );
}

function Actions({ endpoint, read, take }: Properties & { take(created: EndpointSecret): void }) {
  const { id: endpointId, name, enabled } = endpoint;
  const [isOpen, setOpen] = useState(false);
  const [tested, setTested] = useState<Tested | null>(null);
  return (
    <>
      <div class="decisions">
        <Action
          label="Send test event"
          act={async (key) => {
            setTested(null);
            setTested((await mutate(testWebhookEndpoint, { endpointId }, key)).tested);
          }}
        />
        <button type="button" class="quiet slim" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Change
        </button>
        <Action
          label="Replace secret"
          question="For one more day, requests are signed with both secrets."
          act={async (key) => take((await mutate(replaceWebhookSecret, { endpointId }, key)).replaced)}
        />
        <Action
          label={enabled ? 'Disable' : 'Enable'}
          act={(key) => mutate(updateWebhookEndpoint, { endpointId, input: { enabled: !enabled } }, key).then(read)}
        />
        <DeleteRecord
          question={`“${name}” and the list of what was sent are deleted.`}
          list="/webhooks"
          remove={(key) => mutate(deleteWebhookEndpoint, { endpointId }, key)}
        />
      </div>
      {tested && <TestAnswer tested={tested} />}
      {isOpen && (
        <Change
          endpoint={endpoint}
          done={() => {
            setOpen(false);
            read();
          }}
        />
      )}
    </>
  );
}

type Tested = TestWebhookEndpointMutation['tested'];

const TestAnswer = ({ tested: { status, type, answerStatus, answerBody, error, durationMs } }: { tested: Tested }) => (
  <>
    <div class={status === 'delivered' ? 'note good' : 'note'} role="status">
      <strong>
        {status === 'delivered' ? 'The endpoint accepted the event.' : 'The endpoint did not accept the event.'}
      </strong>
      <div>
        {answerStatus !== null && `The response to ${type} was ${answerStatus}, after ${durationMs} ms.`} {error}
      </div>
    </div>
    {answerBody && <ScrollBlock>{answerBody}</ScrollBlock>}
  </>
);

function Change({ endpoint, done }: { endpoint: EndpointPartsFragment; done(): void }) {
  const { id: endpointId } = endpoint;
  const form = useForm({
    name: `webhook endpoint ${endpointId}`,
    initial: valuesOf(endpoint),
    current: async () => [valuesOf((await ask(webhookEndpoint, { endpointId })).endpoint), null],
    async send(values, key) {
      await mutate(updateWebhookEndpoint, { endpointId, input: inputOf(values) }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save" close={done} labels={endpointLabels}>
      <EndpointFields form={form} />
    </FormFrame>
  );
}
