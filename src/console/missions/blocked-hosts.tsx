// Hosts that the network policy blocked in a mission, each with a button to allow it.
import { allowHost, type RunNetworkQuery } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card } from '../kit/pieces.tsx';
import type { Reading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';
import type { RequestedHost } from './run-environment.tsx';

interface Properties {
  runId: string;
  projectName: string;
  reading: Reading<RunNetworkQuery>;
}

export function BlockedHosts({ runId, projectName, reading }: Properties) {
  const connections = reading.data?.runConnections?.data ?? [];
  const blocked = connections.filter(({ verdict, host }) => verdict === 'blocked' && host !== '*');
  if (blocked.length === 0) return null;
  return (
    <Card title="Blocked hosts" class="blocked">
      <ul class="rows">
        {blocked.map((asked) => (
          <li key={`${asked.host} ${asked.port} ${asked.phase}`} class="next-row wrap">
            <div class="grow">
              <code>{asked.port === 443 ? asked.host : `${asked.host}:${asked.port}`}</code>
              <div class="muted small">
                {[
                  asked.phase === 'setup' && 'in the setup',
                  `${plural(asked.count, 'attempt')} in this mission`,
                  `in ${plural(asked.recentRuns ?? 1, 'mission')} of the last 30 days`,
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </div>
            </div>
            <Allow runId={runId} projectName={projectName} asked={asked} read={reading.read} />
          </li>
        ))}
      </ul>
      <p class="muted small">Missions can reach an allowed host from their next step on.</p>
    </Card>
  );
}

interface AllowProperties {
  runId: string;
  projectName: string;
  asked: RequestedHost;
  read(): void;
}

function Allow({ runId, projectName, asked: { host, port, phase, template, isAllowedNow }, read }: AllowProperties) {
  if (!template) return null;
  if (isAllowedNow) {
    return (
      <div class="when">
        allowed in <a href={pageAt(`/templates/${template.id}`)}>{template.name}</a>
      </div>
    );
  }
  if (!may('agents:write') || (template.isBuiltin && !may('projects:write'))) {
    return <div class="when">An admin can allow it.</div>;
  }
  const label = template.isBuiltin ? 'Allow in a new template' : `Allow in ${template.name}`;
  return (
    <Action
      label={label}
      describes={`${label}: ${host}`}
      {...(template.isBuiltin && {
        question: `“${template.name}” is built in. This creates a template from it that allows ${host}, and “${projectName}” uses it from now on.`,
      })}
      act={(key) => mutate(allowHost, { runId, input: { host, port, phase } }, key).then(read)}
    />
  );
}
