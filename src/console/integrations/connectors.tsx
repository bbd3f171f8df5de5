// Forms and buttons of connectors: connect, check, rotate, revoke and disconnect.
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import {
  checkIntegration,
  connectIntegration,
  disconnectIntegration,
  type IntegrationsQuery,
  revokeIntegration,
  type VendorKind,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Action, Card } from '../kit/pieces.tsx';
import { askedOffers, credentialWord, offers, vendors } from '../kit/vendors.tsx';
import { plural } from '../kit/words.tsx';
import { AccessFields, accessIn, accessSecrets, noAccess } from './access.tsx';
import { ConnectorModels, modelsHint, modelsIn } from './connector-models.tsx';
import { Rotation } from './rotation.tsx';

export type Connector = IntegrationsQuery['integrations']['integrations'][number];

export const kinds: Readonly<Record<VendorKind, string>> = {
  tracker: 'Tracker',
  scm: 'Source host',
  llm: 'Language models',
  chat: 'Chat',
};
const [first] = Object.keys(offers) as [string];

export function Connect({ read }: { read(): void }) {
  const { connect = '' } = useLocation().query;
  const form = useForm({
    name: 'connector',
    initial: { offer: askedOffers[connect] ?? first, displayName: '', baseUrl: '', models: '', ...noAccess },
    secrets: accessSecrets,
    async send({ offer, displayName, baseUrl, models, ...access }, key) {
      const { vendor, vendorKind, server } = offers[offer]!;
      const named = vendorKind === 'llm' ? { models: modelsIn(models) } : {};
      const given = { ...accessIn(vendor, access), ...named, baseUrl: server ? optional(baseUrl) : null };
      await mutate(connectIntegration, { vendor, vendorKind, displayName, ...given }, key);
      read();
    },
  });
  const { vendor, vendorKind, hint, server } = offers[form.values.offer] ?? offers[first]!;
  return (
    <Card title="Connect">
      <FormFrame form={form} action="Connect">
        <Choice form={form} name="offer" label="Connection" options={Object.keys(offers).map((name) => [name, name])} />
        <Text form={form} name="displayName" label="Name" maxLength={120} required />
        {vendor !== 'builtin' && (
          <AccessFields form={form} vendor={vendor} label={credentialWord(vendor)} hint={hint} />
        )}
        {server && (
          <Text
            form={form}
            name="baseUrl"
            label="Server"
          >{`Leave this field empty for ${vendors[vendor]}. For another server, enter ${server}.`}</Text>
        )}
        {vendorKind === 'llm' && (
          <Text
            form={form}
            name="models"
            label="Models of a compatible server"
            rows={3}
            isCode
          >{`Optional. ${modelsHint}`}</Text>
        )}
      </FormFrame>
    </Card>
  );
}

interface ActionsProperties {
  connector: Connector;
  /** Connectors that can replace the connector in its projects. */
  others: readonly Connector[];
  read(): void;
}

export function ConnectorActions({ connector, others, read }: ActionsProperties) {
  const { id: integrationId, displayName, vendor, vendorKind, dependentProjectCount } = connector;
  const [isRotating, setRotating] = useState(false);
  const [isNaming, setNaming] = useState(false);
  return (
    <div class="connector-actions">
      <div class="decisions">
        {vendor !== 'builtin' && (
          <>
            <Action
              label="Check"
              describes={`Check ${displayName}`}
              act={(key) => mutate(checkIntegration, { integrationId }, key).then(read)}
            />
            {vendorKind === 'llm' && (
              <button
                type="button"
                class="quiet slim"
                aria-expanded={isNaming}
                aria-label={`Change the models of ${displayName}`}
                onClick={() => setNaming(!isNaming)}
              >
                Models
              </button>
            )}
            {vendorKind !== 'chat' && (
              <button
                type="button"
                class="quiet slim"
                aria-expanded={isRotating}
                aria-label={`Rotate the credentials of ${displayName}`}
                onClick={() => setRotating(!isRotating)}
              >
                Rotate
              </button>
            )}
            <Action
              label="Revoke"
              describes={`Revoke the credentials of ${displayName}`}
              class="danger slim"
              question={
                vendorKind === 'llm'
                  ? 'The key is deleted. Running steps that use it fail.'
                  : 'The credentials are deleted. Projects keep the connector, and cannot use it until you add new credentials.'
              }
              act={(key) => mutate(revokeIntegration, { integrationId }, key).then(read)}
            />
          </>
        )}
        <Action
          label="Disconnect"
          describes={`Disconnect ${displayName}`}
          class="danger slim"
          question={consequence(connector, others)}
          act={(key) =>
            mutate(disconnectIntegration, { integrationId, detachProjects: dependentProjectCount > 0 }, key).then(read)
          }
        />
      </div>
      {isNaming && (
        <ConnectorModels
          connector={connector}
          done={() => {
            setNaming(false);
            read();
          }}
        />
      )}
      {isRotating && (
        <Rotation
          connector={connector}
          done={() => {
            setRotating(false);
            read();
          }}
        />
      )}
    </div>
  );
}

const uses: Readonly<Record<VendorKind, string>> = {
  tracker: 'as tracker',
  scm: 'as source host',
  llm: 'for language models',
  chat: 'as chat',
};

/** Effect of a disconnection on projects, as the API applies it. */
function consequence(connector: Connector, others: readonly Connector[]): string {
  const { id, vendor, vendorKind, baseUrl, dependentProjectCount: count } = connector;
  const gone = 'The connector and its credentials are deleted.';
  if (vendorKind === 'chat')
    return `${gone} Its channels are unbound, and its threads get no more reports of missions.`;
  if (count === 0) return `${gone} No project uses it.`;
  const like = others.filter(
    (one) => one.id !== id && one.vendorKind === vendorKind && (vendorKind !== 'tracker' || one.vendor === vendor),
  );
  const next = like.find((one) => one.vendor === vendor && one.baseUrl === baseUrl) ?? like[0];
  const use = `${plural(count, 'project')} ${count === 1 ? 'uses' : 'use'} it ${uses[vendorKind]}`;
  if (next) return `${gone} ${use} and will use “${next.displayName}”.`;
  const then =
    vendorKind === 'llm'
      ? 'missions use the keys of the runtimes.'
      : 'missions that need one fail until another connector is connected.';
  return `${gone} ${use} and will have none: ${then}`;
}
