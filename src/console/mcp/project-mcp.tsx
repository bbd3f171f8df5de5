// The MCP servers of a project: declared and bound servers, approvals of their tools, and calls of missions.

import { type McpCallOutcome, type ProjectMcpQuery, projectMcp, updateProjectMcp } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Card, Commands, Empty, Loaded, Pill } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { When } from '../kit/words.tsx';
import { McpServer } from './mcp-server.tsx';

type View = ProjectMcpQuery['projectMcp'];

export function ProjectMcp({ id: projectId }: { id: string }) {
  const { data, problem, read } = useReading(projectMcp, { projectId });
  const view = data?.projectMcp;
  return (
    <>
      <Heading
        title="MCP servers"
        above={[
          [pageAt('/projects'), 'Projects'],
          [pageAt(`/projects/${projectId}`), data?.project.name ?? '…'],
        ]}
      >
        <CopyAs
          path={`/mcp/projects/${projectId}`}
          graphql={`{ projectMcp(projectId: "${projectId}") { configStatus servers { name binding { status } } } }`}
          client={`client.projectMcp({ projectId: '${projectId}' })`}
        />
      </Heading>
      <p class="lead-part">Tools that missions of this project may use: declared in its repository, approved here.</p>
      <Loaded value={view} problem={problem} retry={read} rows={3} height={120}>
        {(view) => (
          <div class="columns">
            <div class="column">
              {view.servers.map((server) => (
                <McpServer key={server.name} projectId={projectId} server={server} read={read} />
              ))}
              {view.servers.length === 0 && <NoServers configPath={view.configPath} />}
            </div>
            <div class="column">
              <ConfigFile projectId={projectId} view={view} read={read} />
              <Calls calls={view.callsOfDay} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  );
}

const NoServers = ({ configPath }: { configPath: string }) => (
  <Card title="No servers yet">
    <p>
      An MCP server gives missions tools, such as your tracker or your documentation. Declare one in{' '}
      <code>{configPath}</code> of the repository:
    </p>
    <Commands>{'mcpServers:\n  docs:\n    url: https://mcp.example.com/mcp'}</Commands>
  </Card>
);

const defaultPath = 'service.yml';

function ConfigFile({ projectId, view, read }: { projectId: string; view: View; read(): void }) {
  const { configPath, configRef, configStatus, configError, warnings } = view;
  return (
    <Card title="Config file" aside={<Pill status={configStatus} />}>
      <p class="break">
        <code>{configPath}</code> {configRef && <>at {<code>{configRef}</code>}</>}
      </p>
      {configError && <p class="note error">{configError}</p>}
      {warnings.length > 0 && (
        <ul>
          {warnings.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      )}
      {may('mcp:write') && <ConfigPath projectId={projectId} view={view} read={read} />}
    </Card>
  );
}

const pathOf = ({ configPath, configPathSource }: View) => ({
  configPath: configPathSource === 'project' ? configPath : '',
});

function ConfigPath({ projectId, view, read }: { projectId: string; view: View; read(): void }) {
  const form = useForm({
    name: `config path of ${projectId}`,
    initial: pathOf(view),
    current: async () => [pathOf((await ask(projectMcp, { projectId })).projectMcp), null],
    async send({ configPath }, key) {
      await mutate(updateProjectMcp, { projectId, configPath: optional(configPath) }, key);
      read();
    },
  });
  return (
    <FormFrame form={form} action="Save path" labels={{ configPath: 'Path' }}>
      <Text form={form} name="configPath" label="Path in the repository">
        Leave this field empty for <code>{defaultPath}</code>.
      </Text>
    </FormFrame>
  );
}

const outcomes: Record<McpCallOutcome, string> = {
  ok: 'succeeded',
  tool_error: 'returned an error',
  refused: 'refused',
  failed: 'failed',
};

const Calls = ({ calls: { calls, counts } }: { calls: View['callsOfDay'] }) => (
  <Card title="Calls in the last 24 hours">
    {calls.length === 0 && <Empty>No mission has called a tool in the last 24 hours.</Empty>}
    {counts.map(({ serverName, outcome, count }) => (
      <div key={`${serverName} ${outcome}`} class="small">
        {serverName}: {count} {outcomes[outcome]}
      </div>
    ))}
    {calls.length > 0 && (
      <ul class="rows">
        {calls.map(({ id, runId, serverName, tool, outcome, durationMs, createdAt }) => (
          <li key={id} class="next-row">
            <div class="grow">
              <a class="row-link break" href={pageAt(`/runs/${runId}`)}>
                {serverName} · {tool}
              </a>
              <div class="muted small">
                {outcomes[outcome]} · {durationMs} ms
              </div>
            </div>
            <When at={createdAt} />
          </li>
        ))}
      </ul>
    )}
  </Card>
);
