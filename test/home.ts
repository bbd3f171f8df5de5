// An organization with one of everything, and what a right request to it looks like: where the tests begin that then take a
// credential away or break an argument. A noun that joins adds its record to `furnish` and its bodies to `bodies`.
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Vendor, VendorKind } from '#domain/integrations/model.ts';
import { SignIn } from '#domain/oauth/sign-ins.ts';
import type { Organization } from '#domain/organizations/model.ts';
import type { Person } from '#domain/people/model.ts';
import { connectIntegration } from '#domain/projects/connectors.ts';
import { claimRun } from '#domain/runtime/claim.ts';
import { callerOfServiceToken, createServiceToken } from '#domain/tokens/service-tokens.ts';
import type { Row } from '#foundation/base-model.ts';
import { days } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { openOutbound } from '#foundation/outbound.ts';
import { type Arguments, inputOf, isRequired, type RootField } from './fields.ts';
import { openRemoteMcp } from './remote-mcp.ts';
import {
  noteArtifact,
  openEnvironment,
  startSandbox,
  startSession,
  storedContent,
  writeLog,
} from './runtime-records.ts';
import { type Ask, present, type World } from './world.ts';

export interface Home {
  organization: Row<Organization>;
  owner: Row<Person>;
  /** The ids of its records, by the argument that takes them. */
  ids: Record<string, string>;
  /** Those of them that belong to its first project: outside of it they don't exist for a credential that is bound. */
  ofProject: Record<string, string>;
  /** Those that are the owner's alone, whatever the others' roles. */
  ofOwner: Record<string, string>;
  /** Its second project. */
  otherProjectId: string;
  /** Somebody with an account who belongs nowhere. */
  nomadId: string;
  /** Of its runtime. */
  serviceToken: string;
  /** Texts that stand in its records and nowhere else. */
  words: string[];
}

let furnished = 0;

export async function furnish(world: World, named = 'Acme'): Promise<Home> {
  const n = ++furnished;
  const name = `${named} ${n}`;
  const [owner, member, nomad] = await Promise.all(
    ['owner', 'member', 'nomad'].map((role) => world.person(`${role}-of-${n}`)),
  );
  const organization = await world.found(owner!, name);
  const connect = (vendorKind: VendorKind, vendor: Vendor, externalOrgId?: string) =>
    connectIntegration({
      orgId: organization.id,
      vendor,
      vendorKind,
      displayName: `${vendor} of ${name}`,
      externalOrgId,
    });
  const [tracker, scm, session] = await Promise.all([
    connect('tracker', 'builtin'),
    connect('scm', 'builtin', await repositoryOf(`repositories/shop-${n}`)),
    world.session(owner!, organization.id),
    connect('llm', 'anthropic'),
    world.join(organization, member!, 'member'),
  ]);
  const make = async (path: string, body?: object) => (await world.rest('POST', path, { session, body })).body;
  const [project, other, invite] = await Promise.all([
    make('/projects', { name: 'Shop', repoFullName: `repositories/shop-${n}` }),
    make('/projects', { name: 'Other', repoFullName: `repositories/other-${n}` }),
    make('/invites', { email: `invited-${n}@example.com`, role: 'member' }),
  ]);
  const [token, signIn, agent] = await Promise.all([
    make('/tokens', { name: 'CI', scopes: ['projects:read'], projectId: project.id }),
    signedIn(owner!, organization, project.id),
    make('/agents', { ...agentBody, name: `Agent of ${name}` }),
  ]);
  const [task, automation] = await Promise.all(
    ['/scheduled-tasks', '/automations'].map((path) => make(path, recurringBody(project.id))),
  );
  const [run] = await Promise.all([make(`/scheduled-tasks/${task.id}/run`), make(`/automations/${automation.id}/run`)]);

  const { token: serviceToken } = await createServiceToken({ name: `Runtime of ${name}`, orgId: organization.id });
  const runtime = { runtime: 'Runtime', harnesses: ['claude-code' as const] };
  const held = (await claimRun((await callerOfServiceToken(serviceToken))!, runtime))!;
  const { runId, leaseId } = held;
  const sandbox = await startSandbox({ orgId: organization.id, projectId: project.id }, { runId, leaseId });
  const sitting = await startSession(sandbox);
  await writeLog(sitting, 'session', ['What was said.']);
  const environment = await openEnvironment({ orgId: organization.id, projectId: project.id });
  const { key: contentKey } = await storedContent(organization.id);
  const artifact = await noteArtifact(
    { orgId: organization.id, projectId: project.id },
    { sandboxId: sandbox.id, caption: `Screenshot of ${name}` },
  );

  // The service of a world is on loopback, and so is the MCP server.
  openOutbound({ allowLoopback: true });
  const server = `/mcp/projects/${project.id}/servers/issues`;
  await world.rest('PUT', server, { session, body: { roles: ['builder'] } });
  const leaving = await make(`${server}/oauth/start`, {});

  const ofProject = {
    id: task.id,
    mcpState: new URL(leaving.authorizeUrl).searchParams.get('state')!,
    automationId: automation.id,
    issueId: run.issueId,
    runId,
    leaseId,
    sandboxId: sandbox.id,
    sessionId: sitting.sessionId,
    environmentId: environment.id,
    artifactId: artifact.id,
    contentKey,
  };
  const ofOwner = { tokenId: token.id, delegationId: signIn.id };
  const ids = {
    orgId: organization.id,
    projectId: project.id,
    inviteId: invite.id,
    userId: member!.id,
    agentId: agent.id,
    byTrackerConnectorId: tracker.id,
    byScmConnectorId: scm.id,
    ...ofOwner,
    ...ofProject,
  };
  return {
    organization,
    owner: owner!,
    ids,
    ofProject,
    ofOwner,
    otherProjectId: other.id,
    nomadId: nomad!.id,
    serviceToken,
    words: [name, organization.slug, owner!.email, member!.email, invite.email],
  };
}

/** A client that the owner signed in to. */
const signedIn = async (owner: Row<Person>, organization: Row<Organization>, projectId: string): Promise<SignIn> =>
  SignIn.query().insertAndFetch({
    id: newId('signIn'),
    clientId: 'https://client.example/metadata.json',
    clientName: 'Client',
    userId: owner.id,
    orgId: organization.id,
    projectId: projectId as Id<'project'>,
    resource: 'api',
    scopes: ['projects:read'],
    createdAt: present(),
    expiresAt: present() + days(30),
  });

const agentBody = {
  role: 'builder',
  harness: 'claude-code',
  model: 'claude-sonnet-4-5',
  sandbox: { kind: 'existing', templateId: 'standard' },
};

const recurringBody = (projectId: string) => ({
  projectId,
  name: 'Every morning',
  prompt: 'Look after the dependencies.',
  triggers: [{ kind: 'schedule', schedule: { interval: 'weekly', time: '09:00', timezone: 'UTC', weekday: 'monday' } }],
});

let asked = 0;

/** A body that is right, by the name of its record: a new one at each call, so that it meets no earlier one. */
export const bodies: Record<string, (home: Home) => Record<string, unknown>> = {
  CreateOrganizationRequest: () => ({ name: 'Founded', slug: `founded-${++asked}` }),
  UpdateOrganizationRequest: () => ({ name: 'Renamed' }),
  CreateMembershipRequest: ({ nomadId }) => ({ userId: nomadId, role: 'viewer' }),
  UpdateMembershipRequest: () => ({ role: 'viewer' }),
  CreateInviteRequest: () => ({ email: `guest-${++asked}@example.com`, role: 'viewer' }),
  CreateProjectRequest: () => ({ name: 'Created', repoFullName: `created/by-${++asked}` }),
  UpdateProjectRequest: () => ({ name: 'Renamed' }),
  CreateAgentRequest: () => ({ ...agentBody, name: `Created ${++asked}` }),
  UpdateAgentRequest: () => ({ name: `Renamed ${++asked}` }),
  CreateScheduledTaskRequest: ({ ids }) => recurringBody(ids.projectId!),
  UpdateScheduledTaskRequest: () => ({ name: `Renamed ${++asked}`, triggers: recurringBody('').triggers }),
  UpdateOrchestratorRequest: () => ({ name: `Renamed ${++asked}` }),
  UpdateProjectMcpRequest: () => ({ configPath: 'service.yml' }),
  PutMcpBindingRequest: () => ({ roles: ['builder'] }),
  StartMcpOAuthRequest: () => ({}),
  CompleteMcpOAuthRequest: ({ ids }) => ({ code: 'code', state: ids.mcpState }),
  ClaimRunRequest: () => ({ runtime: 'Another', harnesses: ['shell'] }),
  HeartbeatRequest: (home) => ({
    runs: [{ ...held(home), progress: 10, activity: 'Reading' }],
    sandboxes: [{ ...inside(home), metrics: [] }],
    environments: [home.ids.environmentId],
  }),
  ReportCostRequest: (home) => ({ ...held(home), costId: `cost-${++asked}`, usd: 0.01 }),
  RegisterSandboxRequest: (home) => ({
    ...held(home),
    key: `box-${++asked}`,
    role: 'builder',
    harness: 'claude-code',
    instanceType: 'lite',
  }),
  FinishSandboxRequest: (home) => ({ ...inside(home), status: 'completed' }),
  ReportSessionRequest: (home) => ({ ...session(home), outcome: 'done' }),
  AppendLogRequest: (home) => ({ ...session(home), part: 'system', seq: 0, content: 'Linux' }),
  AppendFragmentsRequest: (home) => ({ ...inside(home), seq: 0, fragments: [{ kind: 'thought', t: present() }] }),
  CreateArtifactUploadRequest: (home) => held(home),
  RegisterArtifactRequest: (home) => ({
    ...held(home),
    contentKey: home.ids.contentKey,
    role: 'qa',
    kind: 'log',
    contentType: 'text/plain',
  }),
  RegisterEnvironmentRequest: (home) => ({ ...held(home), key: `preview-${++asked}` }),
  MoveEnvironmentRequest: ({ ids }) => ({ environmentId: ids.environmentId, status: 'destroying' }),
  FinishRunRequest: (home) => ({ ...held(home), status: 'completed' }),
  HandBackRunRequest: (home) => ({ ...held(home), reason: 'shutting down' }),
  CreateTokenRequest: ({ ids }) => ({ name: 'Created', scopes: ['projects:read'], projectId: ids.projectId }),
};

/** A report of what the home's runtime holds. */
const held = ({ ids: { runId, leaseId } }: Home) => ({ runId, leaseId });
const inside = ({ ids: { sandboxId, leaseId } }: Home) => ({ sandboxId, leaseId });
const session = (home: Home) => ({ ...inside(home), role: 'builder', sessionId: home.ids.sessionId });

/** What an argument takes that is no id of a record, by `field.argument`. */
const plain: Record<string, string> = {
  'slugPreview.name': 'Zürich & Söhne',
  'slugAvailability.slug': 'free',
  'sandboxLog.role': 'builder',
  'repositoryFile.path': 'AGENTS.md',
  'putMcpBinding.serverName': 'issues',
  'deleteMcpBinding.serverName': 'issues',
  'refreshMcpTools.serverName': 'issues',
  'startMcpOAuth.serverName': 'issues',
};

const folder = fileURLToPath(new URL('../node_modules/.cache/repositories', import.meta.url));

/** The folder in which there is a git repository of that name, a copy of one that declares the remote MCP server. */
async function repositoryOf(name: string): Promise<string> {
  original ??= declaringRepository();
  await cp(await original, path.join(folder, `${name}.git`), { recursive: true });
  return folder;
}

let original: Promise<string> | undefined;
const remote = openRemoteMcp();

async function declaringRepository(): Promise<string> {
  const work = await mkdtemp(path.join(tmpdir(), 'aep-home-'));
  await writeFile(path.join(work, 'service.yml'), `mcpServers: { issues: { url: "${(await remote).url}" } }`);
  const by = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
  const env = { ...process.env, ...by, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'declare'],
  ])
    execFileSync('git', args, { cwd: work, env });
  return path.join(work, '.git');
}

const place = ({ organization, ids }: Home) => ({ orgId: organization.id, projectId: ids.projectId as Id<'project'> });

/** What adds a row to each list that pages: a mutation, or what a runtime would report. */
const adders: Record<string, string | ((home: Home) => Promise<unknown>)> = {
  projects: 'createProject',
  agents: 'createAgent',
  scheduledTasks: 'createScheduledTask',
  scheduledTaskRuns: 'runScheduledTask',
  automations: 'createAutomation',
  automationRuns: 'runAutomation',
  issues: 'runScheduledTask',
  runs: 'runScheduledTask',
  sandboxes: (home) => startSandbox(place(home)),
  environments: (home) => openEnvironment(place(home)),
  artifacts: (home) => noteArtifact(place(home)),
};

export function adderOf(list: string) {
  const adds = adders[list];
  if (!adds) throw new Error(`What adds a row to ${list}? Say it in \`adders\`, test/home.ts.`);
  return adds;
}

/** Who may ask a field everything about the home: its owner in the console, or its runtime. */
export const admitted = async (world: World, home: Home, { exposure: { scope } }: RootField): Promise<Ask> =>
  scope === 'runtime:report'
    ? { token: home.serviceToken }
    : { session: await world.session(home.owner, home.organization.id) };

/** A right body of a request record. */
export function bodyOf(record: string, home: Home): Record<string, unknown> {
  const body = bodies[record];
  if (!body) throw new Error(`Nobody knows a right ${record}: add one to \`bodies\` in test/home.ts.`);
  return body(home);
}

/** Arguments with which the field serves the owner. Of the optional ones, those that name a record of the home. */
export function argumentsOf({ name, field }: RootField, home: Home): Arguments {
  const args: Arguments = {};
  const record = inputOf(field);
  for (const argument of field.args) {
    const id = home.ids[argument.name] ?? plain[`${name}.${argument.name}`];
    if (argument.name === 'input') args.input = bodyOf(record!, home);
    else if (id !== undefined) args[argument.name] = id;
    else if (isRequired(argument)) {
      throw new Error(
        `${name} asks for ${argument.name}: when that is the id of a record, add one to \`furnish\` in test/home.ts, ` +
          'else add a right value to `plain` there.',
      );
    }
  }
  return args;
}
