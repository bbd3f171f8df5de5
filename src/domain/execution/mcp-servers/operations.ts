// Operations on the bindings of MCP servers: list them, bind a server or change its binding, remove it.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid, refuseChanged } from '#foundation/problem.ts';
import { seal } from '#foundation/secrets/secrets.ts';
import type { AgentRole } from '../../projects/agents/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { type Declared, maxServers } from './declared.ts';
import { forgetGrant } from './grants.ts';
import { type ApprovedTool, type AuthKind, McpBinding, toolDigest } from './model.ts';
import { type Sealed, sealedFor, unsealed } from './remote.ts';
import { type ConfigFile, driftOf, findOwnProject, readConfigFile } from './view.ts';

/** Maximum number of credentials per binding. */
export const maxCredentials = 20;
export const secretLength = { min: 1, max: 8_192 } as const;
/** Characters that a header value can contain. */
export const secretPattern = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export type BindingOfProject = McpBinding & { projectName: string };

/** The bindings of the projects that the caller can reach, ordered by project and name. */
export async function listBindings(caller: Caller): Promise<BindingOfProject[]> {
  const bindings = await McpBinding.findAll(withinReach(caller));
  const ids = [...new Set(bindings.map(({ projectId }) => projectId))];
  const projects = await Project.findByKeys('id', ids, Project.visibleTo(caller));
  const byName = projects.sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id));
  return byName.flatMap(({ id, name: projectName }) =>
    bindings.filter(({ projectId }) => projectId === id).map((binding) => ({ ...binding, projectName })),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export interface BindingInput {
  roles: AgentRole[];
  /**
   * The approved tools; absent means no change. A list, even an unchanged one, states that the tools were reviewed in their present
   * form.
   */
  approvedTools?: ApprovedTool[] | undefined;
  /** New credentials by name: null deletes one, and those that are absent stay unchanged. */
  credentials?: Record<string, string | null> | undefined;
  allowedEgressHosts?: string[] | undefined;
  enabled?: boolean | undefined;
}

/**
 * Binds a server as currently declared, or changes its binding. A server that is not yet declared can be bound too, but gets no requests
 * until it is declared. `ifUpdatedAt`: the version that the change was based on.
 * @throws 409 for a server that is not allowed to run, and after a concurrent change
 */
export async function putBinding(
  caller: Caller,
  projectId: string,
  serverName: string,
  input: BindingInput,
  ifUpdatedAt?: number | null,
): Promise<McpBinding> {
  const project = await findOwnProject(caller, projectId);
  await releaseTransaction();
  const file = await readConfigFile(project);
  const declared = file.declared.find(({ name }) => name === serverName);
  if (declared?.isolation.kind === 'refused') {
    throw conflict(`The server ${serverName} is not allowed to run: ${declared.isolation.reason}.`);
  }
  const write = async (trx: Transaction) => {
    // The project is locked, so that concurrent calls cannot give it more bindings than the maximum.
    if (!(await Project.query(trx).findById(projectId).select('id').forNoKeyUpdate())) Project.refuse();
    const before = await McpBinding.query(trx).findOne({ projectId, serverName });
    // `ifUpdatedAt` also fails when the binding was removed in the meantime.
    refuseChanged(before ?? { updatedAt: 0 }, ifUpdatedAt);
    if (before) await changeBinding(trx, before, input, file, declared);
    else await insertBinding(trx, project, serverName, input, declared);
    return serverName;
  };
  await firstStep(() => transaction(write));
  return McpBinding.get({ projectId, serverName });
}

async function insertBinding(
  trx: Transaction,
  project: Project,
  serverName: string,
  input: BindingInput,
  declared: Declared | undefined,
): Promise<void> {
  const { id: projectId, orgId } = project;
  const count = await McpBinding.query(trx).where({ projectId }).resultSize();
  if (count >= maxServers) throw conflict(`A project can have at most ${maxServers} bound MCP servers.`);
  const id = newId('mcpBinding');
  const credentials = merged({}, input.credentials);
  await McpBinding.insert(trx, {
    ...{ id, orgId, projectId, serverName, roles: unique(input.roles), enabled: input.enabled ?? true },
    ...{ approvedTools: input.approvedTools ?? [], allowedEgressHosts: unique(input.allowedEgressHosts ?? []) },
    ...pinned(id, declared ?? null),
    ...sealedCredentials(id, credentials),
    createdAt: now(),
    updatedAt: now(),
  });
}

async function changeBinding(
  trx: Transaction,
  before: McpBinding,
  input: BindingInput,
  { configStatus }: ConfigFile,
  declared: Declared | undefined,
): Promise<void> {
  const { roles, approvedTools, enabled, allowedEgressHosts } = input;
  const isRead = configStatus === 'ok' || configStatus === 'missing';
  const drift = isRead ? driftOf(before, declared) : before.drift;
  const isElsewhere = declared !== undefined && declared.url !== before.pinnedUrl;
  // Credentials and grants belong to the bound URL. When the URL changes, only the credentials in this request are stored.
  if (isElsewhere) await forgetGrant(trx, before.id);
  const kept = isElsewhere ? {} : (await unsealed(before.id)).credentials;
  const snapshot = isElsewhere ? [] : before.toolSnapshot;
  await McpBinding.patch(
    trx,
    { id: before.id },
    {
      roles: unique(roles),
      ...(enabled !== undefined && { enabled }),
      ...(allowedEgressHosts && { allowedEgressHosts: unique(allowedEgressHosts) }),
      ...(declared && drift ? pinned(before.id, declared) : { drift }),
      ...(before.authKind === 'oauth' && !isElsewhere && { authKind: 'oauth' as const }),
      ...(isElsewhere && {
        toolSnapshot: [],
        toolsRefreshedAt: null,
        reviewedTools: {},
        reviewedDefinitions: [],
        lastError: null,
      }),
      ...((isElsewhere || input.credentials) && { needsAuthorization: false }),
      ...sealedCredentials(before.id, merged(kept, input.credentials)),
      ...(approvedTools && {
        approvedTools: withPolicies(before, approvedTools),
        reviewedTools: digestsOf(snapshot),
        reviewedDefinitions: snapshot,
      }),
      updatedAt: now(),
    },
  );
}

/** Keeps `alwaysAsk` of a tool when the client does not send it. */
const withPolicies = (before: McpBinding, approved: ApprovedTool[]): ApprovedTool[] =>
  approved.map((tool) => ({
    ...tool,
    alwaysAsk: tool.alwaysAsk ?? before.approvedTools.find(({ name }) => name === tool.name)?.alwaysAsk ?? false,
  }));

/** The columns of a binding that depend on the declaration of its server. @param declared Null when the config file no longer declares the server */
function pinned(id: string, declared: Declared | null): Partial<McpBinding> {
  return {
    transport: declared?.isolation.kind === 'sandbox' ? 'sandbox' : 'remote',
    authKind: declared ? authKindOf(declared) : 'none',
    pinnedUrl: declared?.url ?? null,
    packageSpec: declared?.isolation.packageSpec ?? null,
    packageIntegrity: null,
    declaredDigest: declared?.digest ?? null,
    secretRefs: declared?.secretRefs ?? [],
    sealedHeaders: declared ? seal(sealedFor(id, 'headers'), JSON.stringify(declared.headers)) : null,
    drift: declared ? null : 'undeclared',
  };
}

function authKindOf({ headers }: Declared): AuthKind {
  const secret = Object.entries(headers).filter(([, value]) => value.includes('${secret:'));
  if (secret.length === 0) return 'none';
  return secret.some(([name, value]) => /^authorization$/i.test(name) && /^bearer /i.test(value))
    ? 'bearer'
    : 'headers';
}

function merged(before: Sealed['credentials'], changes: BindingInput['credentials'] = {}): Sealed['credentials'] {
  const all = Object.entries({ ...before, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null);
  if (all.length > maxCredentials) throw invalid.field('credentials', `must be at most ${maxCredentials}`);
  return Object.fromEntries(all);
}

const sealedCredentials = (id: string, credentials: Sealed['credentials']): Partial<McpBinding> => ({
  credentialFields: Object.keys(credentials).sort(),
  sealedCredentials: seal(sealedFor(id, 'credentials'), JSON.stringify(credentials)),
});

const digestsOf = (snapshot: McpBinding['toolSnapshot']): McpBinding['reviewedTools'] =>
  Object.fromEntries(snapshot.map((tool) => [tool.name, toolDigest(tool)]));

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

export async function deleteBinding(caller: Caller, projectId: string, serverName: string): Promise<{ deleted: true }> {
  await findOwnProject(caller, projectId);
  const deleted = await McpBinding.query().delete().where({ projectId, serverName });
  return deleted ? { deleted: true } : McpBinding.refuse();
}
