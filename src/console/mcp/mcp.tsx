// The MCP servers that are bound to the projects of the organization.
import { mcpBindings } from '../generated/documents.ts';
import { Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { listFrom, useReading } from '../kit/reading.ts';
import { When } from '../kit/words.tsx';

export function Mcp() {
  const reading = useReading(mcpBindings, {});
  return (
    <>
      <Heading title="MCP servers" />
      <Card title="Bound servers">
        <RowList
          list={listFrom(reading, (data) => data.mcpBindings.bindings)}
          skeleton={<Skeleton rows={3} height={54} />}
          empty={
            <p>
              No MCP server is bound yet. To bind the servers that a repository declares, open its{' '}
              <a href={pageAt('/projects')}>project</a>.
            </p>
          }
        >
          {({ projectId, projectName, serverName, status, statusDetail, transport, roles, updatedAt }) => (
            <li key={`${projectId} ${serverName}`} class="next-row">
              <Pill status={status.replaceAll('_', ' ')} />
              <div class="grow">
                <a class="row-link" href={pageAt(`/projects/${projectId}/mcp`)}>
                  {serverName}
                </a>
                <div class="muted small break">
                  {[projectName, transport, roles.join(', '), statusDetail].filter(Boolean).join(' · ')}
                </div>
              </div>
              <When at={updatedAt} />
            </li>
          )}
        </RowList>
      </Card>
    </>
  );
}
