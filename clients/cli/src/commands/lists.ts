// Lists of records that other commands name: agents, issues of the built-in tracker.
import { printJson, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient } from '../session.ts';
import { findProject } from './projects.ts';

export async function agents(options: CommonOptions & { role?: string; limit: number }): Promise<void> {
  const role = options.role as 'builder' | undefined;
  const found = await (await openClient(options.url)).agents(role ? { role } : {}).take(options.limit);
  if (options.json) return printJson(found);
  printTable(found, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    role: ({ role }) => role,
    harness: ({ harness }) => harness,
    model: ({ model }) => model,
    'built in': ({ isBuiltin }) => (isBuiltin ? 'yes' : 'no'),
  });
}

export async function issues(options: CommonOptions & { project?: string; limit: number }): Promise<void> {
  const client = await openClient(options.url);
  const { project, limit } = options;
  const projectId = project && (await findProject(client, project)).id;
  const found = await client.issues({ ...(projectId && { projectId }), limit: Math.min(limit, 100) }).take(limit);
  if (options.json) return printJson(found);
  printTable(found, {
    key: ({ key }) => key,
    state: ({ state }) => state,
    title: ({ title }) => title.slice(0, 60),
    run: ({ runId }) => runId,
    updated: ({ updatedAt }) => timeOf(updatedAt),
  });
}
