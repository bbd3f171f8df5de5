// Inbound hooks: URLs that other systems send events to, and the form for a new one.
import { useState } from 'preact/hooks';
import {
  createInboundHook,
  type HookPartsFragment,
  type InboundHookSignature,
  type InboundHookVendor,
  inboundHooks,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useList, useRefresh } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { chatApps, senders, signatures } from '../kit/vendors.tsx';
import { Time } from '../kit/words.tsx';
import { type HookSecret, Secret } from './hook-secret.tsx';

export function Hooks() {
  const list = useList(inboundHooks, { limit: 25 }, (data) => data.inboundHooks);
  useRefresh(list.read);
  return (
    <>
      <Heading title="Inbound hooks">
        <CopyAs
          path="/inbound-hooks"
          graphql="{ inboundHooks { data { id name vendor address enabled lastDeliveryAt } nextCursor } }"
          client="client.inboundHooks()"
        />
      </Heading>
      <p class="muted about">
        Other systems send signed events to hooks. <a href={pageAt('/schedules')}>Tasks and automations</a> can have
        rules that start missions for these events.
      </p>
      <div class="columns">
        <Card title="Hooks">
          <RowList
            list={list}
            skeleton={<Skeleton rows={3} height={54} />}
            empty={<p>No hooks yet. A hook is a URL to which another system sends webhooks.</p>}
          >
            {(hook) => <HookRow key={hook.id} hook={hook} />}
          </RowList>
        </Card>
        {may('integrations:write') ? (
          <NewHook read={list.read} />
        ) : (
          <Card title="New hook">
            <p>Owners and admins can create hooks.</p>
          </Card>
        )}
      </div>
    </>
  );
}

const HookRow = ({ hook: { id, name, vendor, enabled, lastDeliveryAt } }: { hook: HookPartsFragment }) => (
  <li class="next-row">
    <Pill status={enabled ? 'active' : 'disabled'} />
    <div class="grow">
      <a class="row-link" href={pageAt(`/hooks/${id}`)}>
        {name}
      </a>
      <div class="muted small">{senders[vendor]}</div>
    </div>
    <div class="when">
      {lastDeliveryAt === null ? (
        'no event yet'
      ) : (
        <>
          last event <Time at={lastDeliveryAt} />
        </>
      )}
    </div>
  </li>
);

function NewHook({ read }: { read(): void }) {
  const [created, setCreated] = useShownOnce<HookSecret>();
  return (
    <Card title={created ? 'Your new hook' : 'New hook'}>
      {created ? (
        <Secret created={created} close={() => setCreated(null)} />
      ) : (
        <HookForm
          take={(hook) => {
            setCreated(hook);
            read();
          }}
        />
      )}
    </Card>
  );
}

/**
 * Senders for which people can create hooks. The hook of a chat is created together with the chat's connection, and the hook of the
 * built-in tracker at the first event.
 */
const created = Object.entries(senders).filter(([vendor]) => vendor !== 'builtin' && !(vendor in chatApps));
const [[firstSender]] = created as [[InboundHookVendor, string]];

interface Values {
  name: string;
  vendor: InboundHookVendor;
  signature: InboundHookSignature;
  signatureHeader: string;
  secret: string;
}

function HookForm({ take }: { take(created: HookSecret): void }) {
  const [hasSecret, setHasSecret] = useState(false);
  const form = useForm<Values>({
    name: 'inbound hook',
    initial: { name: '', vendor: firstSender, signature: 'standard', signatureHeader: '', secret: '' },
    secrets: ['secret'],
    async send({ name, vendor, signature, signatureHeader, secret }, key) {
      const signed = vendor === 'webhook' && {
        signature,
        ...(signature === 'header' && { signatureHeader: optional(signatureHeader) }),
      };
      const chosen = optional(secret);
      const input = { name, vendor, ...signed, ...(chosen && { secret: chosen }) };
      take((await mutate(createInboundHook, { input }, key)).created);
    },
  });
  const { vendor, signature } = form.values;
  return (
    <FormFrame form={form} action="Create hook">
      <Choice form={form} name="vendor" label="Sender" options={created} />
      <Text form={form} name="name" label="Name" maxLength={120} required />
      {vendor === 'webhook' && (
        <Choice form={form} name="signature" label="Signature" options={Object.entries(signatures)}>
          The way in which the sender signs events.
        </Choice>
      )}
      {vendor === 'webhook' && signature === 'header' && (
        <Text form={form} name="signatureHeader" label="Header" maxLength={100} required>
          The header with the HMAC-SHA256 of the body as hex or base64, such as X-Signature.
        </Text>
      )}
      {hasSecret ? (
        <Text form={form} name="secret" label="Secret" type="password" maxLength={200}>
          16 to 200 characters. Leave this field empty to generate one.
        </Text>
      ) : (
        <button type="button" class="quiet slim" onClick={() => setHasSecret(true)}>
          Enter a secret
        </button>
      )}
    </FormFrame>
  );
}
