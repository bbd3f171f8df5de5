// Combines the declared and the bound MCP servers of a project. The config file is read from the repository at each request, and a binding
// that has drifted from it is marked at once.
import type { Caller } from '#access/principal.ts';
import { ownOrganization, reachesProject } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { sql } from '#foundation/postgres/database.ts';
import { releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { Problem } from '#foundation/problem.ts';
import { Project } from '../../projects/projects/model.ts';
import { checkPath } from '../../projects/vendors/source-host.ts';
import { readRepositoryFile } from '../../projects/vendors/source-host-of.ts';
import { type Declared, InvalidConfig, parseConfig } from './declared.ts';
import { type Drift, McpBinding } from './model.ts';

export const defaultPath = 'service.yml';
export const configStatuses = ['ok', 'missing', 'invalid', 'unreachable'] as const;

export interface ConfigFile {
  configPath: string;
  /** Source of the path: the default `service.yml`, or the project's setting. */
  configPathSource: 'service.yml' | 'project';
  /** The git ref from which the file was read; null when it was not read. */
  configRef: string | null;
  configStatus: (typeof configStatuses)[number];
  configError: string | null;
  warnings: string[];
  declared: Declared[];
}

export interface McpServer {
  name: string;
  declared: Declared | null;
  binding: McpBinding | null;
}

export interface ProjectMcpView extends ConfigFile {
  projectId: string;
  servers: McpServer[];
}

/** The project, if the caller can reach it. @throws 404 */
export async function findOwnProject(caller: Caller, projectId: string): Promise<Project> {
  const orgId = ownOrganization(caller);
  if (!reachesProject(caller, projectId)) Project.refuse();
  return Project.get({ id: projectId, orgId });
}

export async function viewProject(caller: Caller, projectId: string): Promise<ProjectMcpView> {
  const project = await findOwnProject(caller, projectId);
  const file = await readConfigFile(project);
  await markDrift(projectId, file);
  const bindings = await McpBinding.findAll({ projectId });
  const declared = new Map(file.declared.map((one) => [one.name, one]));
  const bound = new Map(bindings.map((one) => [one.serverName, one]));
  const servers = [...new Set([...declared.keys(), ...bound.keys()])].map((name) => ({
    name,
    declared: declared.get(name) ?? null,
    binding: bound.get(name) ?? null,
  }));
  return { projectId, ...file, servers };
}

/** Sets the path of the config file; null restores the default. @throws 400 for an invalid path */
export async function setConfigPath(
  caller: Caller,
  projectId: string,
  configPath: string | null | undefined,
): Promise<ProjectMcpView> {
  const { orgId } = await findOwnProject(caller, projectId);
  if (typeof configPath === 'string') {
    checkPath(configPath, 'configPath');
    await sql(
      `insert into mcp_configs (project_id, org_id, config_path, updated_at) values ($1, $2, $3, $4)
        on conflict (project_id) do update set config_path = excluded.config_path, updated_at = excluded.updated_at`,
      [projectId, orgId, configPath, now()],
    );
  } else if (configPath === null) {
    await sql('delete from mcp_configs where project_id = $1', [projectId]);
  }
  await releaseTransaction();
  return viewProject(caller, projectId);
}

/** The file on the default branch. A problem with the file is part of the result. */
export async function readConfigFile(project: Project): Promise<ConfigFile> {
  const [set] = await sql<{ configPath: string }>('select config_path from mcp_configs where project_id = $1', [
    project.id,
  ]);
  const place: Pick<ConfigFile, 'configPath' | 'configPathSource'> = {
    configPath: set?.configPath ?? defaultPath,
    configPathSource: set ? 'project' : 'service.yml',
  };
  const without = (configStatus: ConfigFile['configStatus'], configError: string, configRef: string | null = null) => ({
    ...{ ...place, configRef, configStatus, configError, warnings: [], declared: [] },
  });
  try {
    const file = await readRepositoryFile(project, place.configPath);
    if (!file) return without('missing', `The repository has no ${place.configPath} on its default branch.`);
    try {
      const { servers, warnings } = parseConfig(file.content);
      return { ...place, configRef: file.ref, configStatus: 'ok', configError: null, warnings, declared: servers };
    } catch (error) {
      if (error instanceof InvalidConfig) return without('invalid', error.message, file.ref);
      throw error;
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // A status of 400 means that the file is too large or is not text. With any other problem, the service could not read the file.
    return without(error.status === 400 ? 'invalid' : 'unreachable', error.body.description);
  }
}

/** Differences between the declared and the bound server. */
export function driftOf(
  binding: Pick<McpBinding, 'declaredDigest' | 'pinnedUrl'>,
  declared: Declared | undefined,
): Drift | null {
  if (!declared) return 'undeclared';
  if (declared.digest === binding.declaredDigest) return null;
  return declared.url !== binding.pinnedUrl ? 'address' : 'declaration';
}

const recordDriftSql = `update mcp_bindings b set drift = d.drift, updated_at = $1
  from unnest($2::text[], $3::text[], $4::text[]) d (id, drift, digest)
  where b.id = d.id and b.drift is distinct from d.drift and b.declared_digest is not distinct from d.digest`;

/** Marks drift only when the file was read: while it cannot be read, all bindings stay unchanged. */
export async function markDrift(projectId: string, { configStatus, declared }: ConfigFile): Promise<void> {
  if (configStatus !== 'ok' && configStatus !== 'missing') return;
  const bindings = await McpBinding.findAll({ projectId });
  const drifted = bindings
    .map((binding) => ({
      ...binding,
      now: driftOf(
        binding,
        declared.find(({ name }) => name === binding.serverName),
      ),
    }))
    .filter(({ now, drift }) => now !== drift);
  if (drifted.length === 0) return;
  const columns = [
    drifted.map(({ id }) => id),
    drifted.map((binding) => binding.now),
    drifted.map(({ declaredDigest }) => declaredDigest),
  ];
  // The update is conditional on the digest: a binding that was replaced in the meantime stays unchanged.
  await sql(recordDriftSql, [now(), ...columns]);
}
