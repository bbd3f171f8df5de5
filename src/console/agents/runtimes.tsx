// Runtimes: the connected ones, their tokens, and the command that connects another one.

import {
  type CreateRuntimeTokenMutation,
  createRuntimeToken,
  revokeRuntimeToken,
  runtimes,
  runtimeTokens,
} from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Copy, CopyAs } from '../kit/copy-as.tsx';
import { FormFrame, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { api, may, pageAt } from '../kit/page.ts';
import { Card, Commands } from '../kit/pieces.tsx';
import { listFrom, usePolledReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { TokensCard } from '../kit/tokens-card.tsx';
import { ConnectedRuntimes, type Runtime, WaitingMissions } from './runtimes-list.tsx';

export function Runtimes() {
  const reading = usePolledReading(runtimes, {});
  const mayWrite = may('integrations:write');
  const waiting = reading.data?.runtimes.waiting ?? [];
  const lists = (
    <>
      <ConnectedRuntimes reading={reading} />
      {waiting.length > 0 && <WaitingMissions waiting={waiting} />}
    </>
  );
  return (
    <>
      <Heading title="Runtimes" above={[[pageAt('/agents'), 'Agents']]}>
        <CopyAs
          graphql="{ runtimes { data { name isConnected lastSeenAt harnesses { harness version } } } }"
          client="client.runtimes()"
        />
      </Heading>
      {mayWrite ? (
        <Connecting runtimes={reading.data?.runtimes.data} connected={lists} />
      ) : (
        <div class="columns">
          <div class="column">{lists}</div>
          <Card title="Connect a runtime">
            <p>Owners and admins can create the token that a runtime needs.</p>
          </Card>
        </div>
      )}
    </>
  );
}

function Connecting({ runtimes, connected }: { runtimes: Runtime[] | undefined; connected: preact.JSX.Element }) {
  const reading = usePolledReading(runtimeTokens, {});
  return (
    <div class="columns">
      <div class="column">
        {connected}
        <TokensCard
          list={listFrom(reading, (data) => data.runtimeTokens.data)}
          empty="No tokens yet. A runtime authenticates with a token of this organization."
          question="Runtimes with this token stop. Their missions wait for another runtime."
          revoke={(runtimeTokenId, key) => mutate(revokeRuntimeToken, { runtimeTokenId }, key).then(reading.read)}
        >
          {({ id }) =>
            runtimes
              ?.filter(({ tokenId, isConnected }) => isConnected && tokenId === id)
              .map(({ name }) => ` · ${name}`)
          }
        </TokensCard>
      </div>
      <NewToken read={reading.read} />
    </div>
  );
}

type Created = CreateRuntimeTokenMutation['createRuntimeToken'];

function NewToken({ read }: { read(): void }) {
  const [created, setCreated] = useShownOnce<Created>();
  const form = useForm({
    name: 'runtime token',
    initial: { name: '' },
    async send({ name }, key) {
      setCreated((await mutate(createRuntimeToken, { name }, key)).createRuntimeToken);
      read();
    },
  });
  return (
    <Card title="Connect a runtime">
      <p>
        A runtime runs the agents of this organization’s missions on your own machine. It needs Node.js, a checkout of
        this service with its packages (<code>npm ci</code>), and a token.
      </p>
      {created ? (
        <Command token={created} close={() => setCreated(null)} />
      ) : (
        <FormFrame form={form} action="Create token">
          <Text form={form} name="name" label="Name" maxLength={100} required>
            For example, the machine on which the runtime runs.
          </Text>
        </FormFrame>
      )}
    </Card>
  );
}

/** The token goes to standard input, because other processes can read arguments and the environment. */
const commandOf = (token: string): string =>
  `printf '%s\\n' '${token}' |\n  PLATFORM_URL=${api.replace(/\/v1$/, '')} node --import tsx src/runner/runner.ts`;

function Command({ token: { name, token }, close }: { token: Created; close(): void }) {
  const command = commandOf(token);
  return (
    <>
      <div class="note" role="status">
        <strong>Created the token “{name}”.</strong>
        <div>Copy the command now. You won’t see the token again.</div>
      </div>
      <Commands>{command}</Commands>
      <p class="muted small">
        The command reads the token from standard input and prints which of Claude Code, Codex and OpenCode it found in
        PATH, and how it isolates agents. To install OpenCode first, append <code>install</code> to the second line. The
        runtime appears in the list within seconds.
      </p>
      <div class="actions">
        <Copy text={command} label="Copy command" />
        <Copy text={token} label="Copy token" />
        <button type="button" class="quiet slim" onClick={close}>
          Done
        </button>
      </div>
    </>
  );
}
