// The chats of the organization: connect a workspace, copy the settings of its app, bind channels to projects.
import {
  bindChatChannel,
  type ChatsQuery,
  type ChatVendor,
  chatProjects,
  chats,
  connectChat,
  rotateChat,
  unbindChatChannel,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { Choice, FormFrame, Text } from '../kit/fields.tsx';
import { useReplacedButton } from '../kit/focus.ts';
import { type Form, useForm } from '../kit/form.ts';
import { RowList } from '../kit/list-view.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Skeleton } from '../kit/pieces.tsx';
import { listFrom, useReading } from '../kit/reading.ts';
import { chatApps, vendors } from '../kit/vendors.tsx';

type Chat = ChatsQuery['chatConnections']['data'][number];

/** The card with the chats of the organization. @param changed Reads the connectors again */
export function Chats({ changed }: { changed(): void }) {
  const reading = useReading(chats, {});
  const { isOpen: isConnecting, setOpen: setConnecting, button } = useReplacedButton();
  const mayWrite = may('integrations:write');
  const done = () => {
    setConnecting(false);
    reading.read();
    changed();
  };
  const connect = mayWrite && !isConnecting && (
    <button ref={button} type="button" class="quiet slim" onClick={() => setConnecting(true)}>
      Connect a chat
    </button>
  );
  return (
    <Card title="Chats" aside={connect || undefined}>
      {isConnecting && <Connect done={done} close={() => setConnecting(false)} />}
      <RowList
        list={listFrom(reading, (data) => data.chatConnections.data)}
        skeleton={<Skeleton rows={1} height={54} />}
        empty={
          !isConnecting && (
            <p>
              No chat is connected. In a chat, people start missions by mentioning the agent, and steer them in threads.
            </p>
          )
        }
      >
        {(chat) => (
          <li key={chat.integrationId}>
            <Connection chat={chat} read={reading.read} mayWrite={mayWrite} />
          </li>
        )}
      </RowList>
    </Card>
  );
}

const noCredentials = { botToken: '', signingSecret: '' };
const secrets = ['botToken', 'signingSecret'] as const;
const isStored = 'It is stored encrypted and never shown again.';

function Credentials<V extends typeof noCredentials>({ form, isNew }: { form: Form<V>; isNew: boolean }) {
  const hint = isNew ? isStored : `Leave this field empty to keep the current one. ${isStored}`;
  return (
    <>
      <Text form={form} name="botToken" label="Bot token" type="password" required={isNew}>
        {hint}
      </Text>
      <Text form={form} name="signingSecret" label="Signing secret" type="password" required={isNew}>
        {hint}
      </Text>
    </>
  );
}

const [firstVendor] = Object.keys(chatApps) as [ChatVendor];

function Connect({ done, close }: { done(): void; close(): void }) {
  const form = useForm({
    name: 'chat',
    prefix: 'chat-',
    initial: { vendor: firstVendor as string, displayName: '', ...noCredentials },
    secrets,
    async send({ vendor, ...input }, key) {
      await mutate(connectChat, { input: { ...input, vendor: vendor as ChatVendor } }, key);
      done();
    },
  });
  const vendor = form.values.vendor as ChatVendor;
  return (
    <FormFrame form={form} action="Connect chat" close={close}>
      {Object.keys(chatApps).length > 1 && (
        <Choice form={form} name="vendor" label="Vendor" options={Object.keys(chatApps).map((one) => [one, one])} />
      )}
      <p class="hint">{chatApps[vendor]}</p>
      <Text form={form} name="displayName" label="Name" maxLength={120} required />
      <Credentials form={form} isNew />
    </FormFrame>
  );
}

interface Properties {
  chat: Chat;
  read(): void;
  mayWrite: boolean;
}

function Connection({ chat, read, mayWrite }: Properties) {
  const { integrationId, integration, hookId, problem, channels, eventsAddress, manifest } = chat;
  const { isOpen: isRotating, setOpen: setRotating, button } = useReplacedButton();
  const name = integration?.displayName ?? integrationId;
  return (
    <>
      <strong class="break">
        <bdi>{name}</bdi>
      </strong>
      {problem && <div class="small bad-text break">{problem}</div>}
      <ul class="rows">
        {channels.map(({ channelId, name: channel, project, projectId }) => (
          <li key={channelId} class="link-row">
            <div class="grow break">
              #{channel} → <bdi>{project?.name ?? projectId}</bdi>
            </div>
            {mayWrite && (
              <Action
                label="Unbind"
                describes={`Unbind the channel ${channel}`}
                act={(key) => mutate(unbindChatChannel, { chatId: integrationId, channelId }, key).then(read)}
              />
            )}
          </li>
        ))}
      </ul>
      {mayWrite && <Bind integrationId={integrationId} read={read} />}
      <details class="more">
        <summary>Settings of the app</summary>
        <p class="hint">
          {integration && vendors[integration.vendor]} sends its requests to this URL. See the{' '}
          <a href={pageAt(`/hooks/${hookId}`)}>page of its hook</a> for the outcome of each.
        </p>
        <div class="secret">
          <code>{eventsAddress}</code>
          <Copy text={eventsAddress} label="Copy" describes="Copy URL" />
        </div>
        <h3>Manifest</h3>
        <Copy text={manifest} label="Copy" describes="Copy manifest" />
        <pre class="code">{manifest}</pre>
        {mayWrite && !isRotating && (
          <button ref={button} type="button" class="quiet slim" onClick={() => setRotating(true)}>
            Rotate credentials
          </button>
        )}
        {isRotating && <Rotate integrationId={integrationId} close={() => setRotating(false)} read={read} />}
      </details>
    </>
  );
}

function Bind({ integrationId, read }: { integrationId: string; read(): void }) {
  const { data } = useReading(chatProjects, {});
  const projects = data?.projects.data ?? [];
  const form = useForm({
    name: `channel of ${integrationId}`,
    prefix: `${integrationId}-bind-`,
    initial: { channelId: '', projectId: '' },
    async send({ channelId, projectId }, key) {
      await mutate(bindChatChannel, { chatId: integrationId, channelId: channelId.trim(), projectId }, key);
      read();
    },
  });
  if (projects.length === 0) return null;
  return (
    <details class="more">
      <summary>Bind a channel to a project</summary>
      <FormFrame form={form} action="Bind channel">
        <Text form={form} name="channelId" label="Channel ID" maxLength={30} required>
          The ID at the end of the channel’s details in the chat, such as C0123456789.
        </Text>
        <Choice form={form} name="projectId" label="Project" options={projects.map(({ id, name }) => [id, name])} />
      </FormFrame>
    </details>
  );
}

function Rotate({ integrationId, close, read }: { integrationId: string; close(): void; read(): void }) {
  const form = useForm({
    name: `chat credentials of ${integrationId}`,
    prefix: `${integrationId}-rotate-`,
    initial: noCredentials,
    secrets,
    async send(values, key) {
      const given = Object.entries(values).filter(([, value]) => value !== '');
      await mutate(rotateChat, { chatId: integrationId, input: Object.fromEntries(given) }, key);
      close();
      read();
    },
  });
  return (
    <FormFrame form={form} action="Replace credentials" close={close}>
      <Credentials form={form} isNew={false} />
    </FormFrame>
  );
}
