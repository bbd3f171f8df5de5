// The tokens with which the identity provider of the organization provisions users and groups.
import {
  type CreateDirectoryTokenMutation,
  createDirectoryToken,
  directoryTokens,
  revokeDirectoryToken,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { api } from '../kit/page.ts';
import { Card, Commands } from '../kit/pieces.tsx';
import { listFrom, useReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { TokensCard } from '../kit/tokens-card.tsx';

const endpoint = `${api.replace(/\/v1$/, '')}/scim/v2`;

type Created = CreateDirectoryTokenMutation['createDirectoryToken'];

export function DirectoryTokens() {
  const reading = useReading(directoryTokens, {});
  const [created, setCreated] = useShownOnce<Created>();
  const form = useForm({
    name: 'directory token',
    initial: { name: '', expiresInDays: '365' },
    async send({ name, expiresInDays }, key) {
      const input = { name, expiresInDays: Number(expiresInDays) };
      setCreated((await mutate(createDirectoryToken, input, key)).createDirectoryToken);
      reading.read();
    },
  });
  return (
    <>
      <Card title="Connect an identity provider">
        <p>Enter this URL and a token in your identity provider, and choose bearer authentication.</p>
        <Commands>{endpoint}</Commands>
        {created ? (
          <NewToken created={created} close={() => setCreated(null)} />
        ) : (
          <FormFrame form={form} action="Create token" labels={{ name: 'Name', expiresInDays: 'Days' }}>
            <Text form={form} name="name" label="Name" maxLength={100} required>
              The identity provider that uses the token.
            </Text>
            <Text form={form} name="expiresInDays" label="Days" type="number" min={1} max={730} required>
              The token expires after this time.
            </Text>
          </FormFrame>
        )}
      </Card>
      <TokensCard
        list={listFrom(reading, (data) => data.directoryTokens.data)}
        empty="There is no token yet."
        question="The identity provider can no longer change members. Current members stay."
        revoke={(directoryTokenId, key) => mutate(revokeDirectoryToken, { directoryTokenId }, key).then(reading.read)}
      />
    </>
  );
}

const NewToken = ({ created: { name, token }, close }: { created: Created; close(): void }) => (
  <>
    <div class="note" role="status">
      <strong>Created the token “{name}”.</strong>
      <div>Copy it now. You won’t see it again.</div>
    </div>
    <Commands>{token}</Commands>
    <div class="actions">
      <Copy text={token} label="Copy token" />
      <button type="button" class="quiet slim" onClick={close}>
        Done
      </button>
    </div>
  </>
);
