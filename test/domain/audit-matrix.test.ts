// The matrix of the audit log: every table, and every root field that changes something, each with the events that are recorded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEvent } from '#domain/lifecycle/audit/model.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { auditSources } from '#domain/lifecycle/audit/sources.ts';
import { unrecordedTables } from '#domain/lifecycle/audit/unrecorded.ts';
import { keepRows } from '../support/database-rows.ts';
import { type Arguments, askField, rootFields } from '../support/root-fields.ts';
import { admitted, argumentsOf, type SampleOrganization, seedOrganization } from '../support/sample-organization.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let acme: SampleOrganization;
let restore: () => Promise<void>;
beforeAll(async () => {
  world = await openWorld();
  acme = await seedOrganization(world);
  // Withdrawing from the order of the subscription would end the subscription, too.
  const order = await world.knex('billing_orders').where({ orgId: acme.organization.id, offer: 'pack' }).first();
  acme.ids.orderId = order.id;
  await numberAllChanges();
  await world.knex('audit_events').delete();
  restore = await keepRows(world.knex);
});
afterAll(() => world.close());

const personal = 'what one person sees, and changes for nobody else';
const report = 'a report of a runtime about a run';
const transfer = 'reserves an address for a file, which changes nothing yet';
const typed = 'what is typed and shown in a terminal, whose opening and end are events';

/**
 * For each mutation, the actions of the events that the audit log records when the mutation is called with the arguments of the sample
 * organization. If it records no event, a text says why.
 */
const expected: Record<string, readonly string[] | string> = {
  createMembership: ['member.added'],
  createOrganization: ['organization.created', 'member.added'],
  updateOrganization: ['organization.updated'],
  setAllowedNetworks: 'the list is as before',
  setAuditRetention: ['audit_retention.updated'],
  setRecordingSettings: 'the settings are as before',
  setRetentionSettings: ['retention.updated'],
  setAuditStream: ['audit_stream.updated'],
  deleteAuditStream: ['audit_stream.deleted'],
  retryAuditStream: 'nothing fails',
  createInvite: ['invite.created'],
  revokeInvite: ['invite.revoked'],
  linkAccount: ['account_link.created'],
  unlinkAccount: ['account_link.deleted'],
  createSandboxTemplate: ['sandbox_template.created'],
  updateSandboxTemplate: ['sandbox_template.updated'],
  createProject: ['project.created'],
  updateProject: ['project.updated'],
  deleteProject: ['token.revoked', 'application.revoked', 'project.deleted'],
  setProjectEffectPolicy: ['project.updated'],
  setPullRequestLoop: ['project.updated'],
  setProjectTeam: ['project.updated'],
  createToken: ['token.created'],
  revokeToken: ['token.revoked'],
  createRuntimeToken: ['runtime_token.created'],
  drainRuntime: ['runtime_token.updated'],
  leaveRuntime: report,
  revokeRuntimeToken: ['runtime_token.revoked'],
  createDirectoryToken: ['directory_token.created'],
  revokeDirectoryToken: ['directory_token.revoked'],
  setDirectoryGroupRole: ['directory_group.updated'],
  revokeAgentDelegation: ['application.revoked'],
  updateMembership: ['member.updated'],
  deleteMembership: ['member.removed'],
  erasePerson: ['invite.revoked', 'person.erased'],
  exportOrganization: ['export.requested'],
  closeOrganization: [
    'organization.closed',
    'closure.started',
    'member.suspended',
    'member.suspended',
    'token.revoked',
    'token.revoked',
    'application.revoked',
    'recurring_mission.updated',
    'recurring_mission.updated',
    'runtime_token.revoked',
    'runtime_token.revoked',
    'invite.revoked',
    'sign_in_domain.deleted',
    'run.canceled',
    'run.canceled',
    'outside_effect.rejected',
    'sandbox.destroyed',
    'environment.destroying',
    'subscription.canceled',
  ],
  createAgent: ['agent.created'],
  updateAgent: ['agent.updated'],
  deleteAgent: ['agent.deleted'],
  createScheduledTask: ['recurring_mission.created'],
  updateScheduledTask: ['recurring_mission.updated'],
  deleteScheduledTask: ['recurring_mission.deleted'],
  runScheduledTask: ['run.started', 'issue.created'],
  createAutomation: ['recurring_mission.created'],
  updateAutomation: ['recurring_mission.updated'],
  deleteAutomation: ['recurring_mission.deleted'],
  runAutomation: ['run.started', 'issue.created'],
  restoreAgentVersion: 'the agent is as in that version',
  startAgentTrial: ['agent.updated'],
  endAgentTrial: ['agent.updated'],
  createSecret: ['secret.created'],
  updateSecret: ['secret.updated'],
  deleteSecret: ['secret.deleted'],
  createInboundHook: ['inbound_hook.created'],
  updateInboundHook: ['inbound_hook.updated'],
  replaceInboundHookSecret: ['inbound_hook.updated'],
  deleteInboundHook: ['inbound_hook.deleted'],
  redeliverInboundDelivery: ['inbound_delivery.redelivered'],
  approveInboundDelivery: ['inbound_delivery.received'],
  dismissInboundDelivery: ['inbound_delivery.ignored'],
  createWebhookEndpoint: ['webhook_endpoint.created'],
  updateWebhookEndpoint: ['webhook_endpoint.updated'],
  replaceWebhookSecret: ['webhook_endpoint.updated'],
  createSignInDomain: ['sign_in_domain.added'],
  verifySignInDomain: ['sign_in_domain.verified'],
  updateSignInDomain: ['sign_in_domain.updated'],
  deleteSignInDomain: ['sign_in_domain.deleted'],
  createIdentityProvider: ['identity_provider.connected'],
  createSamlProvider: ['identity_provider.connected'],
  replaceSamlMetadata: ['identity_provider.updated'],
  updateIdentityProvider: ['identity_provider.updated'],
  deleteIdentityProvider: ['identity_provider.deleted'],
  deleteWebhookEndpoint: ['webhook_endpoint.deleted'],
  testWebhookEndpoint: ['webhook_endpoint.tested'],
  resendWebhookDelivery: ['webhook_endpoint.resent'],
  resendWebhookDeliveries: ['webhook_endpoint.resent'],
  updateOrchestrator: ['orchestrator.created'],
  createBudget: ['budget.created'],
  updateBudget: ['budget.updated'],
  deleteBudget: ['budget.deleted'],
  connectIntegration: ['connector.connected'],
  setIntegrationModels: 'the connector names no models before and after',
  checkIntegration: 'a check without a result that is new',
  rotateIntegration: ['connector.updated'],
  revokeIntegration: 'the connector has no credentials',
  disconnectIntegration: ['project.updated', 'project.updated', 'connector.disconnected'],
  killSandbox: ['sandbox.destroyed'],
  destroyEnvironment: ['environment.destroying'],
  cancelRun: ['run.canceled', 'outside_effect.rejected', 'sandbox.destroyed'],
  createMissionView: personal,
  updateMissionView: personal,
  deleteMissionView: personal,
  sendMessage: ['run_message.sent', 'setup_milestone.created'],
  answerElicitation: ['run_message.sent', 'setup_milestone.created'],
  setRunBudget: ['run.updated'],
  setRunLimits: ['run.updated'],
  approvePlan: ['run.updated', 'run_message.sent', 'setup_milestone.created'],
  interruptRun: ['run_message.sent', 'setup_milestone.created'],
  resumeRun: 'the sample’s run is not interrupted; test/domain/audit.test.ts resumes one',
  startMission: ['run.started', 'issue.created'],
  startMissions: ['run.started'],
  followRun: personal,
  createCheckpointUpload: transfer,
  pushCheckpoint: 'the content of the sample is its checkpoint already: a push is the event run_message.sent',
  resolveHostThread: ['host_thread.resolved'],
  answerHostThread: ['host_thread.answered'],
  unfollowRun: personal,
  chooseAttempt: ['attempt_group.chosen'],
  closeAttempts: [
    'run.updated',
    'run.canceled',
    'outside_effect.rejected',
    'sandbox.destroyed',
    'attempt_group.closed',
  ],
  createRunShare: ['run_link.created'],
  revokeRunShare: ['run_link.revoked'],
  rerunMission: ['run.started', 'issue.created'],
  createIssue: ['issue.created'],
  updateIssue: ['issue.updated'],
  assignIssue: ['issue.updated'],
  commentOnIssue: ['issue_comment.created'],
  deleteIssueComment: ['issue_comment.deleted'],
  updateIssueComment: ['issue_comment.updated'],
  setProjectConnectors: ['project.updated'],
  openTerminal: ['terminal.opened'],
  writeTerminal: typed,
  resizeTerminal: typed,
  closeTerminal: ['terminal.ended'],
  deleteSandboxTemplate: ['sandbox_template.deleted'],
  allowHost: ['sandbox_template.created', 'project.updated', 'setup_milestone.created'],
  continueRun: ['run.started', 'setup_milestone.created'],
  forkMission: ['run.started'],
  submitReview: ['review.submitted'],
  mergePullRequest: 'the pull request is merged already',
  resolveReviewComment: ['review_comment.resolved'],
  approveOutsideEffects: ['outside_effect.approved'],
  rejectOutsideEffects: ['outside_effect.rejected'],
  updateProjectMcp: ['mcp_config.created'],
  putMcpBinding: ['mcp_server.updated'],
  deleteMcpBinding: ['mcp_server.unbound'],
  refreshMcpTools: 'what a server offers, which a person reviews',
  startMcpOAuth: 'nothing is granted before completeMcpOAuth',
  completeMcpOAuth: ['mcp_authorization.granted'],
  openRecordingPart: report,
  reportRecordingPart: report,
  reportMcpTools: report,
  admitMcpCall: report,
  reportMcpCall: report,
  updateSetupMilestone: ['setup_milestone.created'],
  updateSetupGroup: ['setup_milestone.created', 'setup_milestone.created', 'setup_milestone.created'],
  updateSetupGuide: ['setup_guide.created'],
  updateMissionNotices: personal,
  handOverRun: ['run.updated', 'run_message.sent', 'setup_milestone.created'],
  markInboxItemDone: personal,
  restoreInboxItem: personal,
  connectChat: ['connector.connected', 'inbound_hook.created', 'chat_connection.created'],
  rotateChat: ['inbound_hook.updated'],
  bindChatChannel: ['chat_channel.updated'],
  unbindChatChannel: ['chat_channel.unbound'],
  updateNoticeMail: personal,
  dismissNotice: personal,
  reserveModelCall: report,
  claimRun: 'no run waits',
  heartbeat: report,
  reportCost: report,
  reportUsage: report,
  reportModelRejected: report,
  finishStep: report,
  registerSandbox: ['sandbox.started'],
  finishSandbox: ['sandbox.completed'],
  reportSession: report,
  signAttestations: report,
  appendLog: report,
  appendFragments: report,
  createArtifactUpload: report,
  registerArtifact: report,
  registerEnvironment: ['environment.created'],
  moveEnvironment: ['environment.destroying'],
  openRepository: report,
  reportBranch: report,
  reportCheckpoint: report,
  finishRun: ['run.completed', 'setup_milestone.created', 'sandbox.completed'],
  handBackRun: ['run.dispatching', 'sandbox.failed'],
  reportConnections: report,
  reportPreparation: report,
  readTerminal: typed,
  appendTerminalOutput: typed,
  reportTerminalEnd: ['terminal.ended'],
  createCreditRequest: ['credit_request.created'],
  createCheckoutSession: ['checkout.created'],
  updateSubscription: ['subscription.canceling'],
  withdrawOrder: ['order.withdrawn'],
  updateBillingSettings: ['billing_settings.created'],
};

/**
 * Events that the audit log may lack after a mutation. The sample organization has a run of a scheduled task and a run of an automation. A
 * runtime has claimed one of these two runs, but which run it has claimed differs. Deleting the scheduled task or the automation does not
 * cancel its run if a runtime has claimed the run. The shared MCP server requires authorization only if an earlier test has turned the
 * requirement on.
 */
const varying: Readonly<Record<string, string>> = {
  deleteScheduledTask: 'run.canceled',
  deleteAutomation: 'run.canceled',
  refreshMcpTools: 'mcp_server.updated',
};

/** Other arguments for mutations that would change nothing with the arguments of the sample organization. */
const changing: Record<string, (args: Arguments) => Arguments> = {
  setProjectEffectPolicy: (args) => ({ ...args, policy: { waits: ['comment'] } }),
  startAgentTrial: (args) => ({ ...args, input: { percent: 30, number: 2 } }),
  bindChatChannel: (args) => ({ ...args, projectId: acme.otherProjectId }),
  updateSubscription: () => ({ input: { cancelAtPeriodEnd: true } }),
  assignIssue: (args) => ({ ...args, assigneeId: acme.ids.userId }),
  setRunLimits: (args) => ({ ...args, maxMinutes: 90 }),
};

const mutations = rootFields.filter(({ kind }) => kind === 'Mutation');

describe('mutations in the audit log', () => {
  it.each(mutations.map((root) => [root.name, root] as const))(
    'the audit log records the listed events for the mutation %s',
    async (name, root) => {
      const ask = await admitted(world, acme, root);
      await numberAllChanges();
      const earlier = new Set((await AuditEvent.query()).map(({ orgId, number }) => `${orgId} ${number}`));
      const args = argumentsOf(root, acme);
      const { problem } = await askField(world.request, 'GraphQL', root, changing[name]?.(args) ?? args, ask);
      expect(problem).toBeUndefined();
      await numberAllChanges();
      const all = await AuditEvent.query().orderBy('orgId').orderBy('number');
      const events = all.filter(({ orgId, number }) => !earlier.has(`${orgId} ${number}`));
      await restore();
      const actions = events.map(({ action }) => action).filter((action) => action !== varying[name]);
      const wanted = expected[name];
      if (wanted === undefined) throw new Error(`List the events of ${name} in \`expected\`.`);
      expect({ [name]: actions }).toEqual({ [name]: typeof wanted === 'string' ? [] : wanted });
      for (const event of events) {
        const isRuntime = root.exposure.scope === 'runtime:report';
        expect(event).toMatchObject({
          operation: name,
          surface: 'graphql',
          actorType: isRuntime ? 'service' : 'person',
        });
        if (!isRuntime) expect(event.actorId).toBe(acme.owner.id);
      }
    },
  );
});

describe('tables in the audit log', () => {
  it('each table has an audit trigger, or is listed with the reason for having none', async () => {
    const { rows } = await world.knex.raw(
      `select c.relname as name, count(t.oid) filter (where t.tgname like '%_audit_%')::int as triggers
       from pg_class c left join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by 1 order by 1`,
    );
    const tables = rows as { name: string; triggers: number }[];
    const ofPartition = /^(sandbox_metrics|audit_events)_\d+$/;
    const named = tables.map(({ name }) => name).filter((name) => !ofPartition.test(name));
    expect([...Object.keys(auditSources), ...Object.keys(unrecordedTables)].sort()).toEqual(named.sort());
    const recorded = tables.filter(({ triggers }) => triggers > 0).map(({ name }) => name);
    expect(recorded).toEqual(Object.keys(auditSources).sort());
  });

  it('audit triggers record existing columns only, and no column of secrets', async () => {
    for (const [table, { columns, key }] of Object.entries(auditSources)) {
      const { rows } = await world.knex.raw(
        'select column_name as name from information_schema.columns where table_name = ?',
        [table],
      );
      const there = new Set((rows as { name: string }[]).map(({ name }) => name));
      expect(key.filter((column) => !there.has(column))).toEqual([]);
      expect(columns.filter((column) => /sealed|hash/i.test(column))).toEqual([]);
    }
  });
});
