// An organization with one record of each type, and valid requests for it. Tests start from these and remove the credential or invalidate
// one argument. A new record type adds its record to `seedOrganization` and its request bodies to `bodies`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checkpoint } from '#domain/execution/checkpoints/model.ts';
import { reportTools } from '#domain/execution/mcp-servers/sandbox.ts';
import { ChangeComment, ChangeReview } from '#domain/execution/reviews/model.ts';
import { claimRun } from '#domain/execution/runtime/claim.ts';
import { reportConnections, reportPreparation } from '#domain/execution/runtime/environments.ts';
import { SignIn } from '#domain/identity/oauth/sign-ins.ts';
import { callerOfServiceToken, createServiceToken } from '#domain/identity/tokens/service-tokens.ts';
import { signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { requestExport } from '#domain/lifecycle/closure/export.ts';
import { signHeldRun } from '#domain/lifecycle/statements/sign.ts';
import { applyEvent } from '#domain/money/billing/events.ts';
import { BillingCheckout } from '#domain/money/billing/model.ts';
import { testPayment } from '#domain/money/billing/provider.ts';
import { grantCredits } from '#domain/money/credits/grants.ts';
import type { Organization } from '#domain/organization/organizations/model.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { stageEffect } from '#domain/projects/effects/staging.ts';
import type { ProjectKind, Vendor } from '#domain/projects/integrations/model.ts';
import { replaceCredentials } from '#domain/projects/integrations/operations.ts';
import { bindVendorAddresses } from '#domain/projects/vendors/addresses.ts';
import { connectIntegration } from '#domain/projects/vendors/connectors.ts';
import { insertGroup } from '#domain/work/attempts/record.ts';
import { recordCommits } from '#domain/work/attestations/record.ts';
import { ChangeVersion } from '#domain/work/change-versions/model.ts';
import { peopleOfRecording } from '#domain/work/forks/people.ts';
import { keyOfPart, makePersonKeys } from '#domain/work/recordings/keys.ts';
import { RecordingPart } from '#domain/work/recordings/model.ts';
import { addRunCall } from '#domain/work/run-calls/record.ts';
import { lockHeldRun, lockRun } from '#domain/work/runs/lock.ts';
import { Run } from '#domain/work/runs/model.ts';
import { days } from '#foundation/clock.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { type GitHub, newPull, openGitHub } from './fake-github.ts';
import { startThread } from './fake-github-threads.ts';
import { openRemoteMcp } from './fake-mcp-server.ts';
import { createSamlProvider } from './fake-saml-provider.ts';
import { openSlack } from './fake-slack.ts';
import { recordedLines, writeRecording } from './recorded-run.ts';
import { type Arguments, inputOf, isRequired, type RootField } from './root-fields.ts';
import {
  noteArtifact,
  openEnvironment,
  showFragments,
  startSandbox,
  startSession,
  storedContent,
  writeLog,
} from './runtime-records.ts';
import { type Ask, present, type World } from './world.ts';

export interface SampleOrganization {
  organization: Organization;
  owner: Person;
  /** Ids of the organization's records, by the name of the argument in which a request sends them. */
  ids: Record<string, string>;
  /** Ids of the records in the organization's first project. A credential that is bound to another project does not find these records. */
  ofProject: Record<string, string>;
  /** Ids of records that belong to the owner personally. No other person finds these records, whatever role that person has. */
  ofOwner: Record<string, string>;
  /** Id of the organization's second project. */
  otherProjectId: string;
  /** A person with an account and no organization. */
  outsiderId: string;
  /** The service token of the organization's runtime. */
  serviceToken: string;
  /** Texts that occur only in records of this organization. */
  words: string[];
}

let seeded = 0;

export async function seedOrganization(world: World, named = 'Acme'): Promise<SampleOrganization> {
  openOutbound(sampleOutbound);
  const n = ++seeded;
  const name = `${named} ${n}`;
  const [owner, member, outsider] = await Promise.all(
    ['owner', 'member', 'outsider'].map((role) => world.person(`${role}-of-${n}`)),
  );
  const organization = await world.found(owner!, name);
  const connect = (vendorKind: ProjectKind, vendor: Vendor, externalOrgId?: string, baseUrl?: string) =>
    connectIntegration({
      orgId: organization.id,
      vendor,
      vendorKind,
      displayName: `${vendor} of ${name}`,
      externalOrgId,
      baseUrl,
    });
  const [tracker, scm, session, model] = await Promise.all([
    connect('tracker', 'builtin'),
    connect('scm', 'builtin', await repositoryOf(`repositories/shop-${n}`)),
    world.session(owner!, organization.id),
    // A URL at which no server listens.
    connect('llm', 'anthropic', undefined, 'http://127.0.0.1:9'),
    world.join(organization, member!, 'member'),
  ]);
  const make = async (path: string, body?: object) => (await world.rest('POST', path, { session, body })).body;
  const [project, other, invite] = await Promise.all([
    make('/projects', { name: 'Shop', repoFullName: `repositories/shop-${n}` }),
    make('/projects', { name: 'Other', repoFullName: `repositories/other-${n}` }),
    make('/invites', { email: `invited-${n}@example.com`, role: 'member' }),
  ]);
  const [token, signIn, agent, template] = await Promise.all([
    make('/tokens', { name: 'CI', scopes: ['projects:read'], projectId: project.id }),
    signedIn(owner!, organization, project.id),
    make('/agents', { ...agentBody, name: `Agent of ${name}` }),
    make('/sandbox-templates', { name: `Template of ${name}` }),
  ]);
  const trial = { percent: 20, changes: { effort: 'high' } };
  await world.graphql(
    'mutation ($agentId: String!, $trial: StartAgentTrialRequest!) { startAgentTrial(agentId: $agentId, input: $trial) { id } }',
    { session, variables: { agentId: agent.id, trial } },
  );
  const secret = await make('/secrets', {
    ...{ scope: 'project', projectId: project.id, kind: 'variable', name: 'CI', value: 'value' },
  });
  const budget = await make('/budgets', { subject: 'person', userId: member!.id, period: 'month', amountUsd: 900 });
  const ask = async (query: string) =>
    Object.values((await world.graphql(`mutation { ${query} { id } }`, { session })).body.data)[0] as { id: string };
  const written = await ask(`createIssue(input: { projectId: "${project.id}", title: "Issue of ${name}" })`);
  const comment = await ask(`commentOnIssue(issueId: "${written.id}", body: "Comment of ${name}")`);
  const { hook } = await make('/inbound-hooks', { name: `Events of ${name}`, vendor: 'webhook' });
  const deliveryId = await noteDelivery(world, organization.id, hook.id);
  const askParts = (query: string) => world.field(`mutation { ${query} }`, { session });
  const domain = await askParts(`createSignInDomain(input: { domain: "sign-in-${n}.example" }) { id recordValue }`);
  records.push(domain.recordValue);
  const issuer = 'http://127.0.0.1:9';
  const provider = await askParts(
    `createIdentityProvider(input: { name: "Provider of ${name}", issuer: "${issuer}", clientId: "c", clientSecret: "s" }) { id }`,
  );
  const metadataXml = JSON.stringify(samlMetadata());
  const saml = await askParts(
    `createSamlProvider(input: { name: "SAML of ${name}", metadataXml: ${metadataXml} }) { id }`,
  );
  const { endpoint } = await make('/webhook-endpoints', { name: `Webhook of ${name}`, url: 'https://192.0.78.9/' });
  // A test of the endpoint is refused before anything is sent.
  await world.knex('webhook_endpoints').where({ id: endpoint.id }).update({ url: 'https://127.0.0.1/' });
  const webhookDeliveryId = await noteWebhookDelivery(world, organization.id, endpoint.id);
  const [task, automation] = await Promise.all(
    ['/scheduled-tasks', '/automations'].map((path) => make(path, recurringBody(project.id))),
  );
  await Promise.all([make(`/scheduled-tasks/${task.id}/run`), make(`/automations/${automation.id}/run`)]);

  const { token: serviceToken } = await createServiceToken({ name: `Runtime of ${name}`, orgId: organization.id });
  const runtime = { runtime: 'Runtime', harnesses: ['claude-code' as const] };
  const runner = (await callerOfServiceToken(serviceToken))!;
  const held = (await claimRun(runner, runtime))!;
  const { runId, leaseId, step } = held;
  const sandbox = await startSandbox({ orgId: organization.id, projectId: project.id }, { runId, leaseId });
  const sitting = await startSession(sandbox);
  await writeLog(sitting, 'session', ['What was said.']);
  await showFragments(sandbox, [{ kind: 'elicitation', body: 'May I?' }]);
  const blocked = { host: 'blocked.example', port: 443, phase: 'agent' as const, verdict: 'blocked' as const };
  await reportConnections(runner, {
    ...{ runId, leaseId, reportId: 'sample' },
    connections: [{ ...blocked, count: 1, sentBytes: 0, receivedBytes: 0 }],
  });
  const sha = createHash('sha1').update(name).digest('hex');
  await transaction(async (trx) => {
    const run = await lockHeldRun(trx, runner, { runId, leaseId });
    await recordCommits(trx, runner, run, [{ sha, tree: sha }]);
  });
  await signHeldRun(runner, { runId, leaseId });
  await reportPreparation(runner, { runId, leaseId, key: 'sample', templateId: 'standard', status: 'ready' });
  const attempted = { title: `Task of ${name}`, prompt: 'Go.', at: present() };
  const attemptGroupId = await transaction((trx) => insertGroup(trx, project, attempted));
  await world
    .knex('runs')
    .where({ id: runId })
    .update({ attemptGroupId, attemptNumber: 1, attemptState: 'chosen', branch: 'mission' });
  const follower = { runId, userId: member!.id, orgId: organization.id };
  await world.knex('run_followers').insert({ ...follower, createdAt: present() });
  const shareId = newId('runShare');
  await world.knex('run_shares').insert({
    ...{
      id: shareId,
      orgId: organization.id,
      projectId: project.id,
      runId,
      tokenHash: digest(shareId),
      createdBy: name,
    },
    ...{ createdAt: present(), expiresAt: present() + days(1) },
  });
  const open = `mutation { openTerminal(runId: "${runId}", width: 80, height: 24) { id } }`;
  const terminal = await world.field(open, { session });
  const reviewOf = { orgId: organization.id, projectId: project.id, createdAt: present() };
  const reviewId = newId('review');
  const reviewed = { runId, branch: 'mission', headSha: 'a'.repeat(40), verdict: 'comment' as const, body: '' };
  const commentId = newId('reviewComment');
  const lines = { path: 'a.ts', side: 'new' as const, startLine: 1, line: 1, quote: '', body: 'Why?' };
  const moved = { ofRunId: runId, issueId: 'ENG-1' };
  await transaction(async (trx) => {
    await ChangeReview.insert(trx, { ...reviewOf, ...reviewed, id: reviewId, author: name });
    await stageEffect(trx, { ...reviewOf, id: runId }, { kind: 'tracker', key: 'ENG-1', payload: moved });
    await ChangeComment.insert(trx, { ...reviewOf, ...lines, id: commentId, reviewId, seq: 0 });
  });
  const environment = await openEnvironment({ orgId: organization.id, projectId: project.id });
  const { key: contentKey } = await storedContent(organization.id);
  await world.graphql('mutation { setRecordingSettings(isEnabled: true, days: 30) { days } }', { session });
  const recordedPart = newId('recordingPart');
  const personIds = await transaction(async (trx) => {
    const people = await peopleOfRecording(trx, (await Run.find({ id: runId }, trx))!);
    await makePersonKeys(trx, organization.id, people);
    return people;
  });
  const { keyId: recordingKeyId } = (await keyOfPart({ id: recordedPart, orgId: organization.id, personIds }))!;
  const { key: recordedKey } = await storedContent(organization.id);
  await RecordingPart.query().insert({
    ...{ id: recordedPart, ...reviewOf, runId, contentKey: recordedKey, personIds },
    ...{ calls: 1, omitted: 0, sizeBytes: 1 },
  } as Partial<RecordingPart>);
  const artifact = await noteArtifact(
    { orgId: organization.id, projectId: project.id },
    { sandboxId: sandbox.id, caption: `Screenshot of ${name}` },
  );

  const { branch, headSha } = reviewed;
  const version = { ...reviewOf, runId, branch, headSha, role: 'builder', artifactId: artifact.id };
  await ChangeVersion.query().insert(version as Partial<ChangeVersion>);
  await Checkpoint.query().insert({
    stepId: step.stepId,
    runId,
    orgId: organization.id,
    projectId: project.id,
    artifactId: artifact.id,
    commitSha: 'b'.repeat(40),
    createdAt: present(),
  } as Partial<Checkpoint>);

  const buy = async (offer: object) => {
    const { checkoutId } = await make('/billing/checkout-sessions', { ...offer, startNowConsent: true });
    const checkout = await BillingCheckout.get({ id: checkoutId });
    await applyEvent('builtin', testPayment(checkout, present() + days(30)));
    return checkoutId;
  };
  await buy({ offer: 'team', teamPlan: 'team-5' });
  const checkoutId = await buy({ offer: 'pack' });
  const { orders } = (await world.rest('GET', '/billing/orders', { session })).body;

  const stream = `mutation { setAuditStream(input: { address: "http://127.0.0.1:9/audit" }) { token } }`;
  await world.field(stream, { session });
  const server = `/mcp/projects/${project.id}/servers/issues`;
  await world.rest('PUT', server, { session, body: { roles: ['builder'] } });
  const files = `/mcp/projects/${project.id}/servers/files`;
  await world.rest('PUT', files, { session, body: { roles: [step.agent.role] } });
  const tools = JSON.stringify([{ name: 'read', inputSchema: { type: 'object' } }]);
  await reportTools(runner, { runId, leaseId, serverName: 'files', tools });
  const approvedTools = [{ name: 'read', attestedReadOnly: true }];
  await world.rest('PUT', files, { session, body: { roles: [step.agent.role], approvedTools } });
  const leaving = await make(`${server}/oauth/start`, {});

  bindVendorAddresses({ slack: (await slack).address });
  const input = {
    vendor: 'slack',
    displayName: `Slack of ${name}`,
    botToken: `xoxb-sample-${n}`,
    signingSecret: 'a-signing-secret',
  };
  const connectChat = 'mutation ($input: ConnectChatRequest!) { connectChat(input: $input) { integrationId } }';
  const { integrationId: chatId } = await world.field(connectChat, { session, variables: { input } });
  const channelId = `C0DEV${n}`;
  (await slack).channels.set(channelId, 'dev');
  const bind =
    'mutation ($chatId: String!, $channelId: String!, $projectId: String!) { bindChatChannel(chatId: $chatId, channelId: $channelId, projectId: $projectId) { name } }';
  await world.field(bind, { session, variables: { chatId, channelId, projectId: project.id } });

  const ofProject = {
    id: task.id,
    mcpState: new URL(leaving.authorizeUrl).searchParams.get('state')!,
    automationId: automation.id,
    secretId: secret.id,
    issueId: written.id,
    issueCommentId: comment.id,
    runId,
    sha,
    terminalId: terminal.id,
    leaseId,
    stepId: step.stepId,
    commentId,
    attemptGroupId,
    shareId,
    checkpointContentKey: artifact.contentKey,
    recordingKeyId,
    sandboxId: sandbox.id,
    sessionId: sitting.sessionId,
    environmentId: environment.id,
    artifactId: artifact.id,
    contentKey,
  };
  const expiring = await make('/tokens', { name: 'Old', scopes: ['projects:read'] });
  await world
    .knex('tokens')
    .where({ id: expiring.id })
    .update({ createdAt: present() - days(30), expiresAt: present() + days(5) });

  await world.knex('host_accounts').insert({
    ...{ orgId: organization.id, userId: member!.id, vendor: 'github', host: 'api.github.com' },
    ...{ account: '2', login: `login-of-${n}`, createdAt: present() },
  });
  const directory = await noteDirectory(world, organization.id, n);
  const views = await world.graphql(
    'mutation ($input: MissionViewRequest!) { createMissionView(input: $input) { id } }',
    { session, variables: { input: { name: `View of ${name}`, layout: 'list', filters: {} } } },
  );
  const viewId = views.body.data.createMissionView.id;
  const ofOwner = { tokenId: token.id, delegationId: signIn.id, viewId };
  const ids = {
    noticeId: `token_expiring:${expiring.id}:7`,
    orgId: organization.id,
    projectId: project.id,
    inviteId: invite.id,
    person: invite.email,
    budgetId: budget.id,
    userId: member!.id,
    agentId: agent.id,
    templateId: template.id,
    checkoutId,
    orderId: orders[0].id,
    byTrackerConnectorId: tracker.id,
    byScmConnectorId: scm.id,
    integrationId: model.id,
    hookId: hook.id,
    chatId,
    channelId,
    deliveryId,
    endpointId: endpoint.id,
    webhookDeliveryId,
    domainId: domain.id,
    providerId: provider.id,
    samlProviderId: saml.id,
    itemId: `event-${deliveryId}`,
    runtimeTokenId: (await createServiceToken({ name: `Rack of ${name}`, orgId: organization.id })).id,
    ...directory,
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
    outsiderId: outsider!.id,
    serviceToken,
    words: [name, organization.slug, owner!.email, member!.email, invite.email],
  };
}

/** TXT records that verify the domains of samples. */
const records: string[] = [];
/** Requests to loopback addresses are allowed, because the service, the MCP server and the providers of tests run on this machine. */
const sampleOutbound = { allowLoopback: true, resolveTxt: async () => records.map((record) => [record]) };

const { metadata: samlMetadata } = createSamlProvider('https://saml.example', present);

/** Stores the token of an identity provider, and a user and a group that the provider maintains. */
async function noteDirectory(world: World, orgId: string, n: number) {
  const [directoryTokenId, userId, directoryGroupId] = [
    newId('directoryToken'),
    await noteDirectoryUser(world, orgId),
    newId('directoryGroup'),
  ];
  const at = { createdAt: present(), updatedAt: present() };
  await world.knex('directory_tokens').insert({
    ...{ id: directoryTokenId, orgId, name: `Directory of ${n}`, digest: digest(directoryTokenId) },
    ...{ createdAt: present(), expiresAt: present() + days(365) },
  });
  const group = { id: directoryGroupId, orgId, displayName: `Group of ${n}`, role: 'member', version: 1 };
  await world.knex('directory_groups').insert({ ...group, ...at });
  const member = { orgId, groupId: directoryGroupId, directoryUserId: userId };
  await world.knex('directory_group_members').insert(member);
  return { directoryTokenId, directoryGroupId };
}

async function noteDirectoryUser(world: World, orgId: string): Promise<string> {
  const id = newId('directoryUser');
  await world.knex('directory_users').insert({
    ...{ id, orgId, userName: id, email: `${id}@example.com`, active: true, isOffered: true, version: 1 },
    ...{ createdAt: present(), updatedAt: present() },
  });
  return id;
}

/** An event that waits for an approval. */
async function noteDelivery(world: World, orgId: string, hookId: string): Promise<string> {
  const [id, at] = [newId('inboundDelivery'), present()];
  await world.knex('inbound_deliveries').insert({
    ...{ id, orgId, hookId, externalId: id, event: 'event', payload: '{}', status: 'waiting' },
    ...{ receivedAt: at, createdAt: at },
  });
  return id;
}

async function noteWebhookDelivery(world: World, orgId: string, endpointId: string): Promise<string> {
  const [id, at] = [newId('webhookDelivery'), present()];
  await world.knex('webhook_deliveries').insert({
    ...{ id, orgId, endpointId, number: ++asked + 1_000_000, type: 'run.completed', body: '{}', status: 'failed' },
    ...{ attempts: 10, createdAt: at },
  });
  return id;
}

/** A client that the owner signed in to. */
const signedIn = async (owner: Person, organization: Organization, projectId: string): Promise<SignIn> =>
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

const network = { mode: 'custom', hosts: ['api.example.com'] };
const environmentBody = {
  variables: [{ name: 'CI', value: 'true' }],
  services: [{ name: 'db', image: 'postgres:17', command: ['-c', 'fsync=off'], healthCheck: 'pg_isready' }],
  setupNetwork: network,
  agentNetwork: network,
};

const recurringBody = (projectId: string) => ({
  projectId,
  name: 'Every morning',
  prompt: 'Look after the dependencies.',
  triggers: [{ kind: 'schedule', schedule: { interval: 'weekly', time: '09:00', timezone: 'UTC', weekday: 'monday' } }],
});

let asked = 0;

/** Valid bodies by the name of their record: each call makes a new body, so that no request repeats an earlier one. */
export const bodies: Record<string, (sample: SampleOrganization) => Record<string, unknown>> = {
  CreateOrganizationRequest: () => ({ name: 'Founded', slug: `founded-${++asked}` }),
  UpdateOrganizationRequest: () => ({ name: 'Renamed' }),
  SetAuditStreamRequest: () => ({ address: 'http://127.0.0.1:9/moved', token: 'another-token' }),
  CreateMembershipRequest: ({ outsiderId }) => ({ userId: outsiderId, role: 'viewer' }),
  UpdateMembershipRequest: () => ({ role: 'viewer' }),
  CreateInviteRequest: () => ({ email: `guest-${++asked}@example.com`, role: 'viewer' }),
  CreateProjectRequest: () => ({ name: 'Created', repoFullName: `created/by-${++asked}` }),
  UpdateProjectRequest: () => ({ name: 'Renamed' }),
  ProjectConnectorsRequest: () => ({ trackerTeamKey: 'ENG' }),
  CreateAgentRequest: () => ({ ...agentBody, name: `Created ${++asked}` }),
  StartAgentTrialRequest: () => ({ percent: 20, number: 2 }),
  UpdateAgentRequest: () => ({ name: `Renamed ${++asked}` }),
  CreateSandboxTemplateRequest: () => ({ name: `Created ${++asked}`, ...environmentBody }),
  UpdateSandboxTemplateRequest: () => ({ name: `Renamed ${++asked}`, ...environmentBody }),
  SetIntegrationModelsRequest: () => ({ models: [] }),
  AllowHostRequest: () => ({ host: 'blocked.example', port: 443, phase: 'agent' }),
  CreateSecretRequest: ({ ids }) => ({
    ...{ scope: 'project', projectId: ids.projectId, kind: 'variable', name: `CREATED_${++asked}`, value: 'value' },
  }),
  CreateBudgetRequest: ({ ids }) => ({
    ...{ subject: 'project', projectId: ids.projectId, period: ++asked % 2 ? 'day' : 'month', amountUsd: 1_000 },
  }),
  UpdateBudgetRequest: () => ({ amountUsd: 950 }),
  MissionViewRequest: () => ({ name: `View ${++asked}`, layout: 'board', groupBy: 'person', filters: {} }),
  CreateInboundHookRequest: () => ({ name: `Created ${++asked}`, vendor: 'github' }),
  ConnectChatRequest: () => ({
    ...{
      vendor: 'slack',
      displayName: 'Slack',
      botToken: `xoxb-created-${++asked}`,
      signingSecret: 'a-signing-secret',
    },
  }),
  RotateChatRequest: () => ({ signingSecret: 'another-signing-secret' }),
  CreateWebhookEndpointRequest: () => ({ name: `Created ${++asked}`, url: 'https://192.0.78.9/' }),
  UpdateWebhookEndpointRequest: () => ({ name: `Renamed ${++asked}` }),
  ResendWebhookDeliveriesRequest: () => ({ createdFrom: 0 }),
  CreateSignInDomainRequest: () => ({ domain: `created-${++asked}.example` }),
  UpdateSignInDomainRequest: ({ ids }) => ({ providerId: ids.providerId }),
  CreateIdentityProviderRequest: () => ({
    ...{ name: `Created ${++asked}`, issuer: 'http://127.0.0.1:9', clientId: 'client', clientSecret: 'secret' },
  }),
  CreateSamlProviderRequest: () => ({ name: `Created ${++asked}`, metadataXml: samlMetadata('own') }),
  SamlMetadataRequest: () => ({ metadataXml: samlMetadata(++asked % 2 ? 'next' : 'foreign') }),
  UpdateIdentityProviderRequest: () => ({ name: `Renamed ${++asked}` }),
  UpdateInboundHookRequest: () => ({ name: `Renamed ${++asked}` }),
  ReplaceInboundHookSecretRequest: () => ({}),
  PreviewEventTriggerRequest: ({ ids }) => ({ trigger: { kind: 'webhook', hookId: ids.hookId } }),
  UpdateSecretRequest: () => ({ value: 'replaced' }),
  CreateScheduledTaskRequest: ({ ids }) => recurringBody(ids.projectId!),
  UpdateScheduledTaskRequest: () => ({ name: `Renamed ${++asked}`, triggers: recurringBody('').triggers }),
  UpdateOrchestratorRequest: () => ({ name: `Renamed ${++asked}` }),
  UpdateProjectMcpRequest: () => ({ configPath: 'service.yml' }),
  PutMcpBindingRequest: () => ({ roles: ['builder'] }),
  CreateCreditRequest: () => ({ message: 'We need more credits.' }),
  StartMissionsRequest: ({ ids }) => ({ issues: [{ projectId: ids.projectId, issue: ids.issueId }] }),
  PushCheckpointRequest: ({ ids }) => ({
    ...{ runId: ids.runId, contentKey: ids.checkpointContentKey },
    ...{ commitSha: 'b'.repeat(40), replacesCommitSha: 'b'.repeat(40) },
  }),
  CreateIssueRequest: ({ ids }) => ({ projectId: ids.projectId, title: 'The footer names the wrong year' }),
  UpdateIssueRequest: () => ({ labels: ['bug'] }),
  CreateCheckoutSessionRequest: () => ({ offer: 'pack' }),
  UpdateBillingSettingsRequest: () => ({ trackerTriggers: 'members' }),
  UpdateMissionNoticesRequest: () => ({ kind: 'completed', mail: true }),
  UpdateNoticeMailRequest: () => ({ kind: 'run_waiting', enabled: false }),
  // The body is empty and changes nothing. Callers of other organizations send it too, and it always applies to the subscription of the
  // caller's own organization.
  UpdateSubscriptionRequest: () => ({}),
  CreateWithdrawalRequest: () => ({ reason: 'Bought by mistake.' }),
  StartMcpOAuthRequest: () => ({}),
  CompleteMcpOAuthRequest: ({ ids }) => ({ code: 'code', state: ids.mcpState }),
  LeaveRuntimeRequest: () => ({ runtime: 'Another' }),
  ClaimRunRequest: () => ({ runtime: 'Another', harnesses: ['shell'] }),
  HeartbeatRequest: (sample) => ({
    runs: [{ ...held(sample), progress: 10, activity: 'Reading' }],
    sandboxes: [{ ...inside(sample), metrics: [] }],
    environments: [sample.ids.environmentId],
  }),
  ReportCostRequest: (sample) => ({ ...held(sample), costId: `cost-${++asked}`, usd: 0.01 }),
  ReserveModelCallRequest: (sample) => ({
    ...held(sample),
    callId: 'call-1',
    model: 'claude-haiku-4-5',
    inputTokens: 10,
    outputTokens: 10,
  }),
  ReportUsageRequest: (sample) => ({
    ...held(sample),
    usageId: `usage-${++asked}`,
    stepId: sample.ids.stepId,
    model: 'claude-sonnet-4-5',
    inputTokens: 100,
    outputTokens: 10,
  }),
  ReportModelRejectedRequest: (sample) => ({ ...held(sample), integrationId: sample.ids.integrationId }),
  FinishStepRequest: (sample) => ({ ...held(sample), stepId: sample.ids.stepId, status: 'completed' }),
  RegisterSandboxRequest: (sample) => ({
    ...held(sample),
    key: `box-${++asked}`,
    role: 'builder',
    harness: 'claude-code',
    instanceType: 'lite',
  }),
  FinishSandboxRequest: (sample) => ({ ...inside(sample), status: 'completed' }),
  ReportSessionRequest: (sample) => ({ ...session(sample), outcome: 'done' }),
  AppendLogRequest: (sample) => ({ ...session(sample), part: 'system', seq: 0, content: 'Linux' }),
  AppendFragmentsRequest: (sample) => ({ ...inside(sample), seq: 1, fragments: [{ kind: 'thought', t: present() }] }),
  CreateArtifactUploadRequest: (sample) => held(sample),
  RegisterArtifactRequest: (sample) => ({
    ...held(sample),
    contentKey: sample.ids.contentKey,
    role: 'qa',
    kind: 'log',
    contentType: 'text/plain',
  }),
  RegisterEnvironmentRequest: (sample) => ({ ...held(sample), key: `preview-${++asked}` }),
  MoveEnvironmentRequest: ({ ids }) => ({ environmentId: ids.environmentId, status: 'destroying' }),
  OpenRepositoryRequest: (sample) => held(sample),
  ReportBranchRequest: (sample) => ({ ...held(sample), headSha: 'a'.repeat(40), baseBranch: 'main' }),
  ReportCheckpointRequest: (sample) => ({
    ...held(sample),
    stepId: sample.ids.stepId,
    contentKey: sample.ids.contentKey,
    commitSha: 'a'.repeat(40),
  }),
  ReportMcpToolsRequest: (sample) => ({ ...held(sample), serverName: 'files', tools: '[]' }),
  AdmitMcpCallRequest: (sample) => ({ ...held(sample), serverName: 'files', tool: 'read' }),
  ReportMcpCallRequest: (sample) => ({
    ...held(sample),
    ...{ serverName: 'files', tool: 'read', outcome: 'ok', durationMs: 5 },
  }),
  ReportConnectionsRequest: (sample) => ({
    ...held(sample),
    reportId: `report-${++asked}`,
    connections: [{ host: 'registry.example', port: 443, phase: 'agent', verdict: 'blocked', count: 1 }],
  }),
  ReportPreparationRequest: (sample) => ({
    ...held(sample),
    key: 'standard',
    templateId: 'standard',
    status: 'ready',
    seconds: 1,
  }),
  OpenRecordingPartRequest: (sample) => ({ ...held(sample), part: 'part-1' }),
  ReportRecordingPartRequest: (sample) => ({
    ...held(sample),
    ...{ part: `part-${++asked}`, keyId: sample.ids.recordingKeyId, contentKey: sample.ids.contentKey },
    ...{ calls: 1, omitted: 0, sizeBytes: 1 },
  }),
  ReadTerminalRequest: (sample) => ({
    ...terminalOf(sample),
    ...{ from: 0, width: 100, height: 24, hasDevice: true },
  }),
  AppendTerminalOutputRequest: (sample) => ({ ...terminalOf(sample), seq: 0, content: '$ ' }),
  ReportTerminalEndRequest: (sample) => ({ ...terminalOf(sample), reason: 'The shell has ended.' }),
  FinishRunRequest: (sample) => ({ ...held(sample), status: 'completed' }),
  SubmitReviewRequest: ({ ids: { runId } }) => ({ runId, headSha: 'a'.repeat(40), verdict: 'comment', body: 'Good.' }),
  SignAttestationsRequest: (sample) => held(sample),
  HandBackRunRequest: (sample) => ({ ...held(sample), reason: 'shutting down' }),
  UpdateSetupMilestoneRequest: () => ({ mark: 'skipped' }),
  UpdateSetupGroupRequest: () => ({ mark: 'skipped' }),
  UpdateSetupGuideRequest: () => ({ step: 2 }),
  // The list is empty and restricts nothing. Callers of other organizations send it too, and it always applies to the caller's own
  // organization. Any network in the list would lock these callers out of the tests that follow.
  SetAllowedNetworksRequest: () => ({ networks: [] }),
  CloseOrganizationRequest: ({ organization }) => ({ confirmSlug: organization.slug }),
  CreateTokenRequest: ({ ids }) => ({ name: 'Created', scopes: ['projects:read'], projectId: ids.projectId }),
};

/** The fields that identify the claimed run in the reports of a runtime. */
const held = ({ ids: { runId, leaseId } }: SampleOrganization) => ({ runId, leaseId });
const terminalOf = (sample: SampleOrganization) => ({ ...held(sample), terminalId: sample.ids.terminalId });
const inside = ({ ids: { sandboxId, leaseId } }: SampleOrganization) => ({ sandboxId, leaseId });
const session = (sample: SampleOrganization) => ({
  ...inside(sample),
  role: 'builder',
  sessionId: sample.ids.sessionId,
});

/** The id that GitHub has given to a review thread of the run's pull request. */
const hostThread = 'PRRT_sample';

/** Values of arguments that are not ids of records, by `field.argument`. */
const plain: Record<string, string | number | boolean> = {
  'setAuditRetention.days': 365,
  'setRecordingSettings.isEnabled': true,
  'setRecordingSettings.days': 30,
  'setRetentionSettings.runDays': 30,
  'setRetentionSettings.logDays': 30,
  'setRetentionSettings.artifactDays': 30,
  'setRetentionSettings.sandboxDays': 30,
  'auditEventProof.number': 1,
  'auditConsistencyProof.first': 0,
  'auditConsistencyProof.second': 1,
  'setProjectTeam.hasTeam': true,
  'changedFile.path': 'logo.png',
  'changedFile.side': 'new',
  'openTerminal.width': 100,
  'openTerminal.height': 30,
  'resizeTerminal.width': 100,
  'resizeTerminal.height': 30,
  'writeTerminal.seq': 0,
  'writeTerminal.text': 'ls',
  'runGroups.by': 'status',
  'restoreAgentVersion.number': 1,
  'endAgentTrial.promote': true,
  'compareAgentVersions.first': 1,
  'compareAgentVersions.second': 2,
  'setPullRequestLoop.rounds': 3,
  'setPullRequestLoop.hours': 48,
  'slugPreview.name': 'Zürich & Söhne',
  'slugAvailability.slug': 'free',
  'sandboxLog.role': 'builder',
  'repositoryFile.path': 'AGENTS.md',
  'updateSetupMilestone.milestoneId': 'checkpoints',
  'updateSetupGroup.groupId': 'explore',
  'updateSetupGuide.guideId': 'mission-control',
  'linkAccount.login': 'ada',
  'unlinkAccount.vendor': 'github',
  'unlinkAccount.host': 'api.github.com',
  'connectIntegration.vendor': 'builtin',
  'connectIntegration.displayName': 'Connected',
  'createRuntimeToken.name': 'Rack',
  'drainRuntime.name': 'Another',
  'runtimeOrders.runtime': 'Another',
  'createDirectoryToken.name': 'Identity provider',
  'createDirectoryToken.expiresInDays': 365,
  'rotateIntegration.credentials': 'sk-new',
  'sendMessage.text': 'Use the UTC helper.',
  'answerElicitation.text': 'Yes.',
  'setRunBudget.budgetUsd': 1_000,
  'commentOnIssue.body': 'In UTC, please.',
  'updateIssueComment.body': 'In local time, please.',
  'startMission.prompt': 'Make the date test pass.',
  'continueRun.prompt': 'Now in UTC.',
  'forkMission.call': 2,
  'mergePullRequest.headSha': 'a'.repeat(40),
  'resolveReviewComment.isResolved': true,
  'resolveHostThread.key': hostThread,
  'resolveHostThread.isResolved': true,
  'answerHostThread.key': hostThread,
  'answerHostThread.body': 'In UTC.',
  'mcpToolReview.serverName': 'issues',
  'putMcpBinding.serverName': 'issues',
  'deleteMcpBinding.serverName': 'issues',
  'refreshMcpTools.serverName': 'issues',
  'startMcpOAuth.serverName': 'issues',
};

// Each test worker has a folder of its own, because the repositories contain the address of an MCP server that runs in the worker's process.
const folder = fileURLToPath(
  new URL(`../../node_modules/.cache/repositories/${process.env.VITEST_POOL_ID}`, import.meta.url),
);

/**
 * Creates the git repository `<name>.git` and returns the folder that contains it. The repository is a copy of a repository that declares
 * the remote MCP server.
 */
async function repositoryOf(name: string): Promise<string> {
  original ??= declaringRepository();
  await cp(await original, path.join(folder, `${name}.git`), { recursive: true });
  return folder;
}

let original: Promise<string> | undefined;
const remote = openRemoteMcp();
const slack = openSlack(null);

async function declaringRepository(): Promise<string> {
  const work = await mkdtemp(path.join(tmpdir(), 'aep-home-'));
  const servers = { issues: { url: (await remote).url }, files: { command: 'node', args: ['server.js'] } };
  await writeFile(path.join(work, 'service.yml'), JSON.stringify({ mcpServers: servers }));
  const by = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
  const env = { ...process.env, ...by, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  for (const args of [
    ['init', '-q', '--template='],
    ['add', '-A'],
    ['commit', '-qm', 'declare'],
  ])
    execFileSync('git', args, { cwd: work, env });
  return path.join(work, '.git');
}

const place = ({ organization, ids }: SampleOrganization) => ({
  orgId: organization.id,
  projectId: ids.projectId as Id<'project'>,
});

/** For each paged list, a call that adds a row: a mutation, or a report of a runtime. */
const adders: Record<string, string | ((sample: SampleOrganization, world: World) => Promise<unknown>)> = {
  projects: 'createProject',
  agents: 'createAgent',
  agentVersions: 'updateAgent',
  sandboxTemplates: 'createSandboxTemplate',
  secrets: 'createSecret',
  inboundHooks: 'createInboundHook',
  inboundDeliveries: ({ organization, ids }, world) => noteDelivery(world, organization.id, ids.hookId!),
  webhookEndpoints: 'createWebhookEndpoint',
  webhookDeliveries: ({ organization, ids }, world) => noteWebhookDelivery(world, organization.id, ids.endpointId!),
  inbox: ({ organization, ids }, world) => noteDelivery(world, organization.id, ids.hookId!),
  budgets: 'createBudget',
  scheduledTasks: 'createScheduledTask',
  scheduledTaskRuns: 'runScheduledTask',
  automations: 'createAutomation',
  automationRuns: 'runAutomation',
  billingLedger: (sample) =>
    transaction((trx) => grantCredits(trx, sample.organization.id, { lot: { kind: 'grant' }, credits: 1 })),
  issues: 'createIssue',
  issueComments: 'commentOnIssue',
  runs: 'runScheduledTask',
  runCalls: addCall,
  directoryUsers: ({ organization }, world) => noteDirectoryUser(world, organization.id),
  auditEvents: 'createIssue',
  auditEntries: 'createIssue',
  auditCheckpoints: addCheckpoint,
  sandboxes: (sample) => startSandbox(place(sample)),
  environments: (sample) => openEnvironment(place(sample)),
  artifacts: (sample) => noteArtifact(place(sample)),
};

export function adderOf(list: string) {
  const adds = adders[list];
  if (!adds) throw new Error(`What adds a row to ${list}? Say it in \`adders\`, test/support/sample-organization.ts.`);
  return adds;
}

async function addCall({ ids: { runId } }: SampleOrganization): Promise<void> {
  await transaction(async (trx) => {
    const run = (await lockRun(trx, { id: runId as Id<'run'> }))!;
    await addRunCall(trx, run, 'tool', newId('mcpCall'), {});
  });
}

/**
 * Adds a checkpoint to the organization. The service signs at most one checkpoint per hour, so the last checkpoint of the organization is
 * first moved to an earlier hour, which precedes the hours of all other checkpoints. Then a checkpoint is signed for the current hour.
 */
async function addCheckpoint({ organization }: SampleOrganization, world: World): Promise<void> {
  await world.knex.raw(
    `update audit_checkpoints c set hour = (select min(hour) - 1 from audit_checkpoints)
      where org_id = ? and hour = (select max(hour) from audit_checkpoints where org_id = c.org_id)`,
    [organization.id],
  );
  await signCheckpoints();
}

/** Fields that require that the organization is closed. */
const ofClosed: ReadonlySet<string> = new Set(['organizationClosure', 'organizationExport', 'exportOrganization']);

/** Whether the call changes the sample. Some fields require that the organization is closed before the call. */
export const changesSample = ({ kind, name }: RootField): boolean => kind === 'Mutation' || ofClosed.has(name);

/**
 * Returns the credential that has full access to a field: the owner's session in the console, or the runtime's token. First puts the sample
 * into the state that the field requires, for example by closing the organization.
 */
export async function admitted(
  world: World,
  sample: SampleOrganization,
  { name, exposure: { scope } }: RootField,
): Promise<Ask> {
  if (scope === 'runtime:report') return { token: sample.serviceToken };
  const session = await world.session(sample.owner, sample.organization.id);
  if (ofClosed.has(name)) {
    const body = bodyOf('CloseOrganizationRequest', sample);
    await world.rest('POST', `/organizations/${sample.organization.id}/closure`, { session, body });
    if (name === 'organizationExport') await requestExport(sample.organization.id);
  }
  if (name === 'linkAccount') await becomeSourceHost(world, sample.ids.integrationId!);
  if (name === 'resolveHostThread' || name === 'answerHostThread') await startHostThread(world, sample);
  if (name === 'continueRun' || name === 'forkMission' || name.includes('Checkpoint')) {
    await world.knex('runs').where({ id: sample.ids.runId }).update({ status: 'completed', leaseUntil: null });
  }
  if (name === 'forkMission' || name === 'recordedModelCalls') await recordMission(sample);
  const pushed = { branch: 'mission', headSha: 'a'.repeat(40) };
  if (name === 'submitReview') await world.knex('runs').where({ id: sample.ids.runId }).update(pushed);
  if (name === 'mergePullRequest')
    await world.knex('runs').where({ id: sample.ids.runId }).update({ prNumber: 1, prState: 'merged' });
  if (name === 'approvePlan') await world.knex('runs').where({ id: sample.ids.runId }).update({ awaitsApproval: true });
  return { session };
}

/** Writes a recording of the run's step, in which the step calls a model twice. */
async function recordMission({ organization, ids }: SampleOrganization): Promise<void> {
  const of = { orgId: organization.id, projectId: ids.projectId, runId: ids.runId } as Parameters<
    typeof writeRecording
  >[0];
  await writeRecording(of, recordedLines(ids.stepId!, 2));
}

/**
 * Replaces the source host of the run's project with a stand-in for GitHub. Creates a pull request for the run at the stand-in, and starts a
 * review thread on the pull request.
 */
async function startHostThread(world: World, { organization, ids }: SampleOrganization): Promise<void> {
  const github = await becomeSourceHost(world, ids.byScmConnectorId!);
  const { scmOwner, scmRepo } = await world.knex('projects').where({ id: ids.projectId }).first('scmOwner', 'scmRepo');
  const repository = `${scmOwner}/${scmRepo}`;
  github.clear(repository);
  const pull = newPull(repository, 1, { title: 'Use UTC', body: '', base: 'main', head: 'mission' });
  github.repositories.get(repository)!.pulls.push(pull);
  const place = { orgId: organization.id, projectId: ids.projectId, prNumber: pull.number };
  startThread(pull, 'ada', { id: hostThread }, 'Why?');
  const lines = { path: 'a.ts', side: 'new', isResolved: false, comments: '[]' };
  await world.knex('pull_request_threads').insert({ ...place, ...lines, key: hostThread, seq: 0, url: pull.html_url });
  await world.knex('runs').where({ id: ids.runId }).update({ prNumber: pull.number, prState: 'open' });
}

/** Turns the connector into a GitHub connector of a new stand-in. The stand-in has an account for the login that `plain` contains. */
async function becomeSourceHost(world: World, id: string): Promise<GitHub> {
  const github = await openGitHub('token');
  github.server.unref();
  github.accounts.set('ada', { id: 1, login: 'ada' });
  await world
    .knex('integrations')
    .where({ id })
    .update({ vendor: 'github', vendorKind: 'scm', baseUrl: github.address });
  await replaceCredentials(id, 'token');
  return github;
}

/** A valid body of a request record. */
export function bodyOf(record: string, sample: SampleOrganization): Record<string, unknown> {
  const body = bodies[record];
  if (!body)
    throw new Error(`There is no valid ${record} yet: add one to \`bodies\` in test/support/sample-organization.ts.`);
  return body(sample);
}

/**
 * Arguments with which the owner can call the field. Optional arguments are included only if the sample's ids or `plain` contain a value
 * for them.
 */
export function argumentsOf({ name, field }: RootField, sample: SampleOrganization): Arguments {
  const args: Arguments = {};
  const record = inputOf(field);
  for (const argument of field.args) {
    const id = sample.ids[argument.name] ?? plain[`${name}.${argument.name}`];
    if (argument.name === 'input') args.input = bodyOf(record!, sample);
    else if (id !== undefined) args[argument.name] = id;
    else if (isRequired(argument)) {
      throw new Error(
        `${name} requires ${argument.name}: add the record whose id it is to \`seedOrganization\` in ` +
          'test/support/sample-organization.ts, or another valid value to `plain` there.',
      );
    }
  }
  return args;
}
