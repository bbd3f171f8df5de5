// Webhook endpoints: URLs that get events of the organization, and the form for a new one.
import { createWebhookEndpoint, type EndpointPartsFragment, webhookEndpoints } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { FormFrame } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useRefresh } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { EndpointFields, inputOf, noValues } from './endpoint-fields.tsx';
import { type EndpointSecret, Secret } from './secret.tsx';

export function Webhooks() {
  const list = useList(webhookEndpoints, { limit: 25 }, (data) => data.webhookEndpoints);
  useRefresh(list.read);
  return (
    <>
      <Heading title="Webhooks">
        <CopyAs
          path="/webhook-endpoints"
          graphql="{ webhookEndpoints { data { id name url types enabled failingSince } nextCursor } }"
          client="client.webhookEndpoints()"
        />
      </Heading>
      <p class="muted about">
        Your systems get a signed request for each of the organization's events that you choose.
      </p>
      <div class="columns">
        <Card title="Endpoints">
          <RowList
            list={list}
            skeleton={<Skeleton rows={3} height={54} />}
            empty={<p>No endpoints yet. An endpoint is a URL of your system that receives events.</p>}
          >
            {(endpoint) => <EndpointRow key={endpoint.id} endpoint={endpoint} />}
          </RowList>
        </Card>
        {may('webhooks:write') && <NewEndpoint read={list.read} />}
      </div>
    </>
  );
}

/** The word for the state of an endpoint. */
export const stateOf = ({ enabled, failingSince }: Pick<EndpointPartsFragment, 'enabled' | 'failingSince'>): string =>
  enabled ? (failingSince === null ? 'active' : 'failing') : 'disabled';

const EndpointRow = ({ endpoint }: { endpoint: EndpointPartsFragment }) => (
  <li class="next-row">
    <Pill status={stateOf(endpoint)} />
    <div class="grow break">
      <a class="row-link" href={pageAt(`/webhooks/${endpoint.id}`)}>
        {endpoint.name}
      </a>
      <div class="muted small">{endpoint.url}</div>
    </div>
  </li>
);

function NewEndpoint({ read }: { read(): void }) {
  const [created, setCreated] = useShownOnce<EndpointSecret>();
  const take = (endpoint: EndpointSecret) => {
    setCreated(endpoint);
    read();
  };
  return (
    <Card title={created ? 'Your new endpoint' : 'New endpoint'}>
      {created ? <Secret created={created} close={() => setCreated(null)} /> : <EndpointForm take={take} />}
    </Card>
  );
}

function EndpointForm({ take }: { take(created: EndpointSecret): void }) {
  const form = useForm({
    name: 'webhook endpoint',
    initial: noValues,
    async send(values, key) {
      take((await mutate(createWebhookEndpoint, { input: inputOf(values) }, key)).created);
    },
  });
  return (
    <FormFrame form={form} action="Create endpoint">
      <EndpointFields form={form} />
    </FormFrame>
  );
}
