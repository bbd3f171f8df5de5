// The secret of an endpoint, with which its receiver verifies signatures.
import type { CreateWebhookEndpointMutation } from '../generated/documents.ts';
import { ShownSecret } from '../kit/shown-secret.tsx';

export type EndpointSecret = CreateWebhookEndpointMutation['created'];

export const Secret = ({ created: { endpoint, secret }, close }: { created: EndpointSecret; close(): void }) => (
  <ShownSecret
    noun="secret"
    secret={secret}
    title={
      <>
        <bdi>{endpoint.name}</bdi> gets events.
      </>
    }
    use="The receiver verifies signatures with it."
    close={close}
  />
);
