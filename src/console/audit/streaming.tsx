// The destination to which the audit log is sent, and whether it accepts events.
import type { Ref } from 'preact';
import {
  type AuditStreamFieldsFragment,
  auditStream,
  deleteAuditStream,
  retryAuditStream,
  setAuditStream,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useReplacedButton } from '../kit/focus.ts';
import { useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { Action, Card, Pill } from '../kit/pieces.tsx';
import { usePolledReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { ShownSecret } from '../kit/shown-secret.tsx';
import { plural, Time } from '../kit/words.tsx';

export function Streaming() {
  const { data, read } = usePolledReading(auditStream, {});
  const { isOpen: isChanging, setOpen: setChanging, button } = useReplacedButton();
  const [token, setToken] = useShownOnce<string>();
  if (!data) return null;
  const { stream } = data.auditStream;
  const saved = (created: string | null) => {
    setChanging(false);
    setToken(created);
    read();
  };
  return (
    <Card title="Streaming" aside={stream && <Pill status={stream.state} />}>
      {stream ? (
        <Health stream={stream} />
      ) : (
        <p class="muted">Send each event, with signed checkpoints, to your log collector or bucket.</p>
      )}
      {token && (
        <ShownSecret
          noun="token"
          secret={token}
          title="Events are sent with a token."
          use={
            <>
              Deliveries contain the token in the header <code>Authorization: Bearer</code>.
            </>
          }
          close={() => setToken(null)}
        />
      )}
      {isChanging ? (
        <Destination stream={stream} saved={saved} close={() => setChanging(false)} />
      ) : (
        may('organizations:write') && (
          <Actions stream={stream} button={button} change={() => setChanging(true)} read={read} />
        )
      )}
    </Card>
  );
}

function Health({ stream }: { stream: AuditStreamFieldsFragment }) {
  const { address, lastNumber, pending, deliveredAt, failingSince, lastError, nextAttemptAt } = stream;
  return (
    <>
      {failingSince !== null && (
        <div class="note error" role="status">
          <strong>The destination does not accept events.</strong>
          <div>
            {lastError} Nothing is lost. First failure: <Time at={failingSince} />. Next attempt:{' '}
            {nextAttemptAt !== null && <Time at={nextAttemptAt} />}.
          </div>
        </div>
      )}
      <dl class="facts">
        <dt>Destination</dt>
        <dd class="break">{address}</dd>
        <dt>Sent</dt>
        <dd>{lastNumber === 0 ? 'Nothing yet' : `Up to event ${lastNumber}`}</dd>
        <dt>Waiting</dt>
        <dd>{pending === 0 ? 'Nothing' : plural(pending, 'event')}</dd>
        <dt>Last delivery</dt>
        <dd>{deliveredAt === null ? 'None yet' : <Time at={deliveredAt} />}</dd>
      </dl>
    </>
  );
}

interface ActionsProperties {
  stream: AuditStreamFieldsFragment | null;
  button: Ref<HTMLButtonElement>;
  change(): void;
  read(): void;
}

const Actions = ({ stream, button, change, read }: ActionsProperties) => (
  <div class="actions">
    <button ref={button} type="button" class="quiet slim" onClick={change}>
      {stream ? 'Change destination' : 'Choose a destination'}
    </button>
    {stream?.state === 'failing' && (
      <Action label="Try now" act={(key) => mutate(retryAuditStream, {}, key).then(read)} />
    )}
    {stream && (
      <Action
        label="Stop streaming"
        class="danger slim"
        question="Streaming stops, and its stored credentials are deleted. The log stays here."
        act={(key) => mutate(deleteAuditStream, {}, key).then(read)}
      />
    )}
  </div>
);

interface DestinationProperties {
  stream: AuditStreamFieldsFragment | null;
  saved(token: string | null): void;
  close(): void;
}

function Destination({ stream, saved, close }: DestinationProperties) {
  const form = useForm({
    name: 'destination of the audit log',
    initial: { address: stream?.address ?? '', token: '', accessKeyId: '', secretAccessKey: '' },
    secrets: ['token', 'accessKeyId', 'secretAccessKey'],
    async send({ address, token, accessKeyId, secretAccessKey }, key) {
      const isBucket = address.startsWith('s3:');
      const credentials = isBucket
        ? { accessKeyId: accessKeyId.trim() || undefined, secretAccessKey: secretAccessKey.trim() || undefined }
        : { token: token.trim() || undefined };
      const input = { address: address.trim(), ...credentials };
      saved((await mutate(setAuditStream, { input }, key)).setAuditStream.token);
    },
  });
  const isBucket = form.values.address.startsWith('s3:');
  return (
    <FormFrame form={form} action="Save" close={close}>
      <Text form={form} name="address" label="URL" maxLength={500} required>
        A log collector such as <code>https://logs.example.com/audit</code>, which receives JSON lines, or a bucket such
        as <code>s3://acme-audit/log?region=eu-central-1</code>.
      </Text>
      {isBucket ? (
        <>
          <Text form={form} name="accessKeyId" label="Access key ID" maxLength={500}>
            A key with the permission <code>s3:PutObject</code>. Leave this field empty to keep the current one.
          </Text>
          <Text form={form} name="secretAccessKey" label="Secret access key" type="password" maxLength={500} />
        </>
      ) : (
        <Text form={form} name="token" label="Token" type="password" maxLength={500}>
          The token that the collector expects. Leave this field empty to keep the current token; for a new destination,
          a token is generated.
        </Text>
      )}
    </FormFrame>
  );
}
