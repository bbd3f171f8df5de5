// One inbound hook: its URL, its secret, and the events that arrived.
import { useState } from 'preact/hooks';
import { HistoryLink } from '../audit/history-link.tsx';
import {
  deleteInboundHook,
  type HookPartsFragment,
  inboundHook,
  replaceInboundHookSecret,
  updateInboundHook,
} from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { DeleteRecord } from '../kit/delete-record.tsx';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Loaded, Pill } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { senders, signatures } from '../kit/vendors.tsx';
import { Time } from '../kit/words.tsx';
import { Deliveries } from './deliveries.tsx';
import { type HookSecret, HookUrl, Secret } from './hook-secret.tsx';

export function Hook({ id: hookId }: { id: string }) {
  const { data, problem, read } = usePolledReading(inboundHook, { hookId });
  const hook = data?.hook;
  return (
    <>
      <Heading title={hook?.name ?? null} above={[[pageAt('/hooks'), 'Inbound hooks']]}>
        <HistoryLink id={hookId} />
        <CopyAs
          path={`/inbound-hooks/${hookId}/deliveries`}
          graphql={`{ inboundDeliveries(hookId: "${hookId}") { data { id event title status reason } nextCursor } }`}
          client={`client.inboundDeliveries({ hookId: '${hookId}' })`}
        />
      </Heading>
      <Loaded value={hook} problem={problem} retry={read} rows={4} height={96}>
        {(hook) => (
          <div class="columns">
            <Deliveries hookId={hookId} />
            <About hook={hook} read={read} />
          </div>
        )}
      </Loaded>
    </>
  );
}

interface Properties {
  hook: HookPartsFragment;
  read(): void;
}

function About({ hook, read }: Properties) {
  const { vendor, signature, signatureHeader, enabled, createdAt, lastDeliveryAt } = hook;
  const isBuiltin = vendor === 'builtin';
  const [replaced, setReplaced] = useShownOnce<HookSecret>();
  return (
    <Card title="Hook" aside={<Pill status={enabled ? 'active' : 'disabled'} />}>
      {!enabled && <p class="note">Events of this hook are stored but start no missions.</p>}
      <dl class="facts">
        <dt>Sender</dt>
        <dd>{senders[vendor]}</dd>
        {!isBuiltin && (
          <>
            <dt>Signature</dt>
            <dd>{signatureHeader ?? signatures[signature]}</dd>
          </>
        )}
        <dt>Last event</dt>
        <dd>{lastDeliveryAt === null ? 'None yet' : <Time at={lastDeliveryAt} />}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </dl>
      {replaced && <Secret created={replaced} close={() => setReplaced(null)} />}
      {!replaced && !isBuiltin && <HookUrl hook={hook} />}
      {may('integrations:write') && <Actions hook={hook} read={read} take={setReplaced} />}
    </Card>
  );
}

type Take = (created: HookSecret) => void;

function Actions({ hook, read, take }: Properties & { take: Take }) {
  const { id: hookId, name, vendor, enabled } = hook;
  const [form, setForm] = useState<'name' | 'secret' | null>(null);
  const toggle = (wanted: typeof form) => () => setForm(form === wanted ? null : wanted);
  return (
    <>
      <div class="decisions">
        <button type="button" class="quiet slim" aria-expanded={form === 'name'} onClick={toggle('name')}>
          Rename
        </button>
        {vendor !== 'builtin' && (
          <>
            <Action
              label="Replace secret"
              question="After you replace the secret, events that are signed with the current secret are refused."
              act={async (key) => take((await mutate(replaceInboundHookSecret, { hookId, input: {} }, key)).replaced)}
            />
            <button type="button" class="quiet slim" aria-expanded={form === 'secret'} onClick={toggle('secret')}>
              Enter the sender’s secret
            </button>
          </>
        )}
        <Action
          label={enabled ? 'Disable' : 'Enable'}
          act={(key) => mutate(updateInboundHook, { hookId, input: { enabled: !enabled } }, key).then(read)}
        />
        <DeleteRecord
          question={`“${name}” and the list of its events are deleted, and new events are refused. Rules that name only this hook start no missions.`}
          list="/hooks"
          remove={(key) => mutate(deleteInboundHook, { hookId }, key)}
        />
      </div>
      {form === 'name' && (
        <Name
          hook={hook}
          done={() => {
            setForm(null);
            read();
          }}
        />
      )}
      {form === 'secret' && <SenderSecret hookId={hookId} done={() => setForm(null)} />}
    </>
  );
}

/** A form for entering the secret that the sender has created. Some senders create the secret themselves, once they know the URL of the hook. */
function SenderSecret({ hookId, done }: { hookId: string; done(): void }) {
  const form = useForm({
    name: `secret of inbound hook ${hookId}`,
    initial: { secret: '' },
    secrets: ['secret'],
    async send({ secret }, key) {
      await mutate(replaceInboundHookSecret, { hookId, input: { secret: secret.trim() } }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save secret" close={done}>
      <Text form={form} name="secret" label="Secret of the sender" type="password" maxLength={200} required>
        Enter 16 to 200 characters. After you save this secret, events that are signed with the current secret are
        refused.
      </Text>
    </FormFrame>
  );
}

function Name({ hook: { id: hookId, name }, done }: { hook: HookPartsFragment; done(): void }) {
  const form = useForm({
    name: `inbound hook ${hookId}`,
    initial: { name },
    current: async () => [{ name: (await ask(inboundHook, { hookId })).hook.name }, null],
    async send(input, key) {
      await mutate(updateInboundHook, { hookId, input }, key);
      done();
    },
  });
  return (
    <FormFrame form={form} action="Save name" close={done} labels={{ name: 'Name' }}>
      <Text form={form} name="name" label="Name" maxLength={120} required />
    </FormFrame>
  );
}
