// One MCP server of a project: its declaration, its binding and its actions.
import { useRef, useState } from 'preact/hooks';
import { deleteMcpBinding, refreshMcpTools, startMcpOAuth } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Pill, StatusMessage } from '../kit/pieces.tsx';
import { Time } from '../kit/words.tsx';
import { BindForm, type Binding, type Server } from './mcp-bind.tsx';
import { ToolReview } from './tool-review.tsx';

type Declared = NonNullable<Server['declared']>;

export interface ServerProperties {
  projectId: string;
  server: Server;
  read(): void;
}

export function McpServer({ projectId, server, read }: ServerProperties) {
  const { name, declared, binding } = server;
  const [said, say] = useState('');
  const mayWrite = may('mcp:write');
  const isRefused = declared?.isolation.kind === 'refused';
  const done = (words: string) => {
    say(words);
    read();
  };
  return (
    <Card
      title={name}
      class="mcp-server"
      aside={<Pill status={binding ? binding.status.replaceAll('_', ' ') : 'not bound'} />}
    >
      <StatusMessage words={said} />
      {binding?.statusDetail && <p class="note break">{binding.statusDetail}</p>}
      {isRefused && <p class="note error">This server is not allowed: {declared.isolation.reason}.</p>}
      <div class="groups">
        <div>
          <h3>Declared</h3>
          {declared ? <Declaration declared={declared} /> : <p class="muted">Not in the config file.</p>}
        </div>
        <div>
          <h3>Bound</h3>
          {binding ? <Facts binding={binding} /> : <p class="muted">Not bound: no mission can use it.</p>}
        </div>
      </div>
      {mayWrite && binding && <Actions projectId={projectId} name={name} binding={binding} done={done} />}
      {mayWrite && !isRefused && (
        <BindForm key={binding ? 'bound' : 'new'} projectId={projectId} server={server} done={done} />
      )}
      {binding && <ToolReview projectId={projectId} serverName={name} server={server} done={done} />}
    </Card>
  );
}

const List = ({ names }: { names: readonly string[] }) =>
  names.length > 0 ? <code>{names.join(', ')}</code> : <>none</>;

const places = {
  remote: 'remote server',
  sandbox: 'in the sandboxes of missions',
  refused: 'nowhere',
} as const;

const Declaration = ({ declared }: { declared: Declared }) => {
  const { isolation, origin, path, command, displayArgs, headerNames, secretRefs } = declared;
  return (
    <dl class="facts">
      <dt>Runs</dt>
      <dd>{places[isolation.kind]}</dd>
      {origin && (
        <>
          <dt>URL</dt>
          <dd>
            <code>{`${origin}${path}`}</code>
          </dd>
        </>
      )}
      {command && (
        <>
          <dt>Command</dt>
          <dd>
            <code>{[command, ...displayArgs].join(' ')}</code>
          </dd>
        </>
      )}
      <dt>Headers</dt>
      <dd>
        <List names={headerNames} />
      </dd>
      <dt>Secrets</dt>
      <dd>
        <List names={secretRefs} />
      </dd>
    </dl>
  );
};

/** The roles as text, such as `builder (12)`, with the number of tools that an agent of the role gets, if known. */
const roleWords = ({ roles, effectiveToolCounts: counts }: Binding): string =>
  roles.map((role) => (role in counts ? `${role} (${counts[role as keyof typeof counts]})` : role)).join(', ') ||
  'none';

const Facts = ({ binding }: { binding: Binding }) => {
  const { pinnedUrl, packageSpec, authKind, credentialFields, allowedEgressHosts, toolsRefreshedAt } = binding;
  return (
    <dl class="facts">
      {(pinnedUrl ?? packageSpec) && (
        <>
          <dt>{pinnedUrl ? 'URL' : 'Package'}</dt>
          <dd>
            <code>{pinnedUrl ?? packageSpec}</code>
          </dd>
        </>
      )}
      <dt>Roles</dt>
      <dd>{roleWords(binding)}</dd>
      <dt>Credentials</dt>
      <dd>{authKind === 'oauth' ? 'OAuth' : <List names={credentialFields} />}</dd>
      {allowedEgressHosts.length > 0 && (
        <>
          <dt>Other hosts</dt>
          <dd>
            <List names={allowedEgressHosts} />
          </dd>
        </>
      )}
      <dt>Tools last read</dt>
      <dd>{toolsRefreshedAt === null ? 'never' : <Time at={toolsRefreshedAt} />}</dd>
    </dl>
  );
};

interface ActionsProperties {
  projectId: string;
  name: string;
  binding: Binding;
  done(words: string): void;
}

function Actions({ projectId, name: serverName, binding, done }: ActionsProperties) {
  const { transport, status, authKind } = binding;
  const [leavesTo, setLeavesTo] = useState<string | null>(null);
  const connect = authKind === 'oauth' ? 'Connect again' : 'Connect with OAuth';
  const isAsked = transport === 'remote' && status !== 'disabled';
  return (
    <>
      <div class="actions">
        {isAsked && (
          <>
            <Action
              label="Read tools"
              describes={`Read tools of ${serverName}`}
              act={async (key) => {
                await mutate(refreshMcpTools, { projectId, serverName }, key);
                done('The tools were read from the server.');
              }}
            />
            <Action
              label={connect}
              describes={`${connect} to ${serverName}`}
              act={async (key) => {
                const returnTo = pageAt(`/projects/${projectId}/mcp`);
                const { startMcpOAuth: start } = await mutate(startMcpOAuth, { projectId, serverName, returnTo }, key);
                setLeavesTo(start.authorizeUrl);
              }}
            />
          </>
        )}
        <Action
          label="Remove"
          describes={`Remove the binding of ${serverName}`}
          class="danger slim"
          question="Missions lose the tools of the server at once, and its credentials are deleted. This cannot be undone."
          act={async (key) => {
            await mutate(deleteMcpBinding, { projectId, serverName }, key);
            done('Removed the binding, with its credentials.');
          }}
        />
      </div>
      {leavesTo && <Leaving to={leavesTo} serverName={serverName} stay={() => setLeavesTo(null)} />}
    </>
  );
}

/** Shows the host before the person leaves the console, because the MCP server chose the URL. */
function Leaving({ to, serverName, stay }: { to: string; serverName: string; stay(): void }) {
  const link = useRef<HTMLAnchorElement | null>(null);
  const { host } = new URL(to);
  const focus = (element: HTMLAnchorElement | null) => {
    if (element && !link.current) element.focus();
    link.current = element;
  };
  return (
    <div class="note" role="status">
      <p>
        You are about to sign in at <strong>{host}</strong>, the authorization server of {serverName}. The granted
        access is stored encrypted and used only for this project’s missions.
      </p>
      <div class="actions">
        <a class="button" href={to} ref={focus}>
          Continue to {host}
        </a>
        <button type="button" class="quiet" onClick={stay}>
          Cancel
        </button>
      </div>
      <p class="muted small">The link works for ten minutes.</p>
    </div>
  );
}
