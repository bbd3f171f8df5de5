// Projects: list, show and create. Other commands look up their project here.
import type { Client, Project } from '../../../typescript/src/exports.ts';
import { paint, printJson, printLine, printRecord, printTable, timeOf } from '../output.ts';
import { type CommonOptions, openClient, UserError } from '../session.ts';

/** Finds a project by id, slug or name. @throws if none or several match */
export async function findProject(client: Client, wanted: string): Promise<Project> {
  if (wanted.startsWith('prj_')) return client.project({ projectId: wanted });
  const found: Project[] = [];
  for await (const project of client.projects({ limit: 100 })) {
    if (project.slug === wanted) return project;
    if (project.name === wanted) found.push(project);
  }
  if (found.length === 1) return found[0]!;
  const reason = found.length === 0 ? 'There is no project' : `${found.length} projects have the name`;
  throw new UserError(`${reason} ${wanted}. "aep projects list" shows ids.`);
}

export async function list(options: CommonOptions & { limit: number }): Promise<void> {
  const projects = await (await openClient(options.url))
    .projects({ limit: Math.min(options.limit, 100) })
    .take(options.limit);
  if (options.json) return printJson(projects);
  printTable(projects, {
    id: ({ id }) => id,
    slug: ({ slug }) => slug,
    name: ({ name }) => name,
    repository: ({ scmOwner, scmRepo }) => `${scmOwner}/${scmRepo}`,
    status: ({ status }) => status,
  });
}

export async function show(options: CommonOptions, wanted: string): Promise<void> {
  const project = await findProject(await openClient(options.url), wanted);
  if (options.json) return printJson(project);
  printRecord({
    id: project.id,
    slug: project.slug,
    name: project.name,
    repository: `${project.scmOwner}/${project.scmRepo}`,
    tracker: project.tracker,
    status: project.status,
    merges: project.autoMerge ? 'without a person' : 'by a person',
    missing: project.missingConnectorKinds?.join(', '),
    created: timeOf(project.createdAt),
  });
}

export async function create(options: CommonOptions & { name?: string }, repository: string): Promise<void> {
  const client = await openClient(options.url);
  const name = options.name ?? repository.split('/').at(-1)!;
  const project = await client.createProject({ name, repoFullName: repository });
  if (options.json) printJson(project);
  else printLine(`Created ${paint('bold', project.slug)}, ${project.id}.`);
}

interface Loop {
  rounds: number;
  hours: number;
  costUsd: number | null;
}
interface LoopOptions extends CommonOptions {
  rounds?: number;
  hours?: number;
  cost?: number | 'none';
}

/** Without options, shows the limits. */
export async function setLoop({ url, json, rounds, hours, cost }: LoopOptions, wanted: string): Promise<void> {
  const client = await openClient(url);
  const { id } = await findProject(client, wanted);
  const query = 'query ($id: String!) { project(projectId: $id) { pullRequestLoop { rounds hours costUsd } } }';
  const { pullRequestLoop: before } = (await client.graphql<{ project: { pullRequestLoop: Loop } }>(query, { id }))
    .project;
  const loop = {
    rounds: rounds ?? before.rounds,
    hours: hours ?? before.hours,
    costUsd: cost === undefined ? before.costUsd : cost === 'none' ? null : cost,
  };
  const { costUsd, ...others } = loop;
  const isChanged = [rounds, hours, cost].some((one) => one !== undefined);
  if (isChanged) await client.setPullRequestLoop({ projectId: id, ...others, ...(costUsd !== null && { costUsd }) });
  if (json) printJson(loop);
  else printRecord({ rounds: loop.rounds, hours: loop.hours, 'cost (USD)': loop.costUsd ?? 'no limit' });
}
