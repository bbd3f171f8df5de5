// Keys of language models: connected, checked, replaced, revoked and deleted.
import { useState } from 'preact/hooks';
import { mutate } from './client.ts';
import {
  checkIntegration,
  connectIntegration,
  disconnectIntegration,
  type IntegrationsQuery,
  revokeIntegration,
  rotateIntegration,
  type Vendor,
} from './documents.ts';
import { Choice, FormFrame, optional, Text } from './fields.tsx';
import { useForm } from './form.ts';
import { Action, Card } from './pieces.tsx';

export type Connector = IntegrationsQuery['integrations']['integrations'][number];

export function ConnectModel({ read }: { read(): void }) {
  const form = useForm({
    name: 'model',
    initial: { vendor: 'anthropic', displayName: '', apiKey: '', baseUrl: '' },
    secret: 'apiKey',
    async send({ vendor, displayName, apiKey, baseUrl }, key) {
      const server = optional(baseUrl);
      const kind = { vendor: vendor as Vendor, vendorKind: 'llm' as const };
      await mutate(connectIntegration, { ...kind, displayName, credentials: apiKey, baseUrl: server }, key);
      read();
    },
  });
  return (
    <Card title="Connect language models">
      <FormFrame form={form} action="Connect">
        <Choice
          form={form}
          name="vendor"
          label="Vendor"
          options={[
            ['anthropic', 'Anthropic'],
            ['openai', 'OpenAI'],
          ]}
        />
        <Text form={form} name="displayName" label="Name" maxLength={120} required />
        <Text
          form={form}
          name="apiKey"
          label="Key"
          hint="It is encrypted, and never shown again."
          type="password"
          required
        />
        <Text form={form} name="baseUrl" label="Server" hint="The address of a compatible server; empty: the vendor." />
      </FormFrame>
    </Card>
  );
}

export function ModelActions({
  connector: { id: integrationId, displayName },
  read,
}: {
  connector: Connector;
  read(): void;
}) {
  const [isRotating, setRotating] = useState(false);
  return (
    <div class="model-actions">
      <div class="decisions">
        <Action
          label="Check"
          describes={`Check ${displayName}`}
          act={(key) => mutate(checkIntegration, { integrationId }, key).then(read)}
        />
        <button
          type="button"
          class="quiet slim"
          aria-expanded={isRotating}
          aria-label={`Rotate the key of ${displayName}`}
          onClick={() => setRotating(!isRotating)}
        >
          Rotate
        </button>
        <Action
          label="Revoke"
          describes={`Revoke the key of ${displayName}`}
          class="danger slim"
          question="The key is deleted. Steps under way that use it fail."
          act={(key) => mutate(revokeIntegration, { integrationId }, key).then(read)}
        />
        <Action
          label="Delete"
          describes={`Delete ${displayName}`}
          class="danger slim"
          question="The connector and its key are deleted. Its projects get the next one."
          act={(key) => mutate(disconnectIntegration, { integrationId, detachProjects: false }, key).then(read)}
        />
      </div>
      {isRotating && (
        <Rotation
          integrationId={integrationId}
          done={() => {
            setRotating(false);
            read();
          }}
        />
      )}
    </div>
  );
}

function Rotation({ integrationId, done }: { integrationId: string; done(): void }) {
  const form = useForm({
    name: `key of ${integrationId}`,
    initial: { newKey: '' },
    secret: 'newKey',
    async send({ newKey }, key) {
      await mutate(rotateIntegration, { integrationId, credentials: newKey }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Replace key">
      <Text form={form} name="newKey" label="New key" type="password" required />
    </FormFrame>
  );
}
