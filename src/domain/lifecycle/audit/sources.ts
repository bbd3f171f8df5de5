// Tables whose changes become audit events, with the resource name and verbs of each. Triggers record the changes
// (migrations/20261213_60_audit_events.sql); this file defines what they mean. `auditActions` lists actions that change no row;
// unrecorded.ts lists every other table, with the reason.
import type { BaseModel } from '#foundation/postgres/base-model.ts';
import { McpBinding } from '../../execution/mcp-servers/model.ts';
import { ChangeComment, ChangeReview } from '../../execution/reviews/model.ts';
import { Registration } from '../../identity/agent-identities/model.ts';
import { SignInDomain } from '../../identity/identity-providers/domain-model.ts';
import { ProviderIdentity } from '../../identity/identity-providers/identity-model.ts';
import { IdentityProvider } from '../../identity/identity-providers/model.ts';
import { SignIn } from '../../identity/oauth/sign-ins.ts';
import { Session } from '../../identity/sessions/model.ts';
import { DirectoryToken } from '../../identity/tokens/directory-tokens.ts';
import { Token } from '../../identity/tokens/model.ts';
import { ServiceToken } from '../../identity/tokens/service-tokens.ts';
import {
  BillingCheckout,
  BillingOrder,
  BillingSettings,
  BillingSubscription,
  CreditRequest,
} from '../../money/billing/model.ts';
import { DirectoryGroup, DirectoryGroupMember } from '../../organization/directory/model.ts';
import { Invite } from '../../organization/invites/model.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { Person } from '../../organization/people/model.ts';
import { Agent } from '../../projects/agents/model.ts';
import { OutsideEffect } from '../../projects/effects/model.ts';
import { HostAccount } from '../../projects/host-accounts/model.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { IssueComment } from '../../projects/issues/comment-model.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { SandboxTemplate } from '../../projects/sandbox-templates/model.ts';
import { Secret } from '../../projects/secrets/model.ts';
import { AttemptGroup } from '../../work/attempts/model.ts';
import { Budget } from '../../work/budgets/model.ts';
import { ChatChannel, ChatConnection } from '../../work/chat-threads/model.ts';
import { Environment } from '../../work/environments/model.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { InboundHook } from '../../work/inbound-hooks/model.ts';
import { Orchestrator } from '../../work/orchestrator/model.ts';
import { RecurringMission } from '../../work/recurring/model.ts';
import { RunShare } from '../../work/replays/model.ts';
import { RunMessage } from '../../work/runs/message-model.ts';
import { Run } from '../../work/runs/model.ts';
import { Sandbox } from '../../work/sandboxes/model.ts';
import { Terminal } from '../../work/terminals/model.ts';
import { SetupGuide, SetupMilestone } from '../setup/model.ts';

export interface AuditSource {
  /** The first part of the names of the table's actions, such as `run` in `run.completed`. */
  noun: string;
  /** Columns whose values an event shows. A changed secret in any other column is shown without its value. */
  columns: readonly string[];
  /** Columns that identify a record; an event contains their values joined by `:`. */
  key: readonly string[];
  /** The column that contains the record's name. */
  name: string;
  created: string;
  deleted: string;
  /** The column whose new value becomes the verb of the event's action: a run's new status `completed` leads to the action `run.completed`. */
  state?: string | undefined;
  /** The verbs of columns that are set once. When the column `revoked_at` is set, for example, the event's action gets the verb `revoked`. */
  ends: Readonly<Record<string, string>>;
  /** The column with the id of the person who acts, for changes made before that person is signed in, such as the sign-in itself. */
  person?: string | undefined;
  /** Columns with personal values, which are sealed with the key of their person (personal.ts). */
  personal: Readonly<Record<string, PersonalOf>>;
  /** The column with the id of a person. If no actor is known, the network address of the event is sealed with the key of this person. */
  addressOf?: string | undefined;
}

/** The person whom a value is about: the one whose id is in the column `of`, the one who acts, or the one who has the value as email address. */
export type PersonalOf = { of: string } | 'actor' | 'address';

const ends = { revoked_at: 'revoked', accepted_at: 'accepted', ended_at: 'ended', resolved_at: 'resolved' };
const source = (
  noun: string,
  { columns }: Pick<typeof BaseModel, 'columns'>,
  given: Partial<Omit<AuditSource, 'noun' | 'columns'>> = {},
): AuditSource => ({
  ...{ noun, columns, key: ['id'], name: 'name', created: 'created', deleted: 'deleted', personal: {} },
  ...given,
  ends: given.ends ?? ends,
});

/** The logged columns of `org_closures` and `org_exports`. The models of these tables import this file, so the names are repeated here. */
const closure = { columns: ['basis', 'closedAt', 'closedByUserId', 'settlements', 'settledAt'] };
const orgExport = { columns: ['status', 'requestedAt', 'sizeBytes', 'finishedAt', 'failure'] };

/** Columns of webhook endpoints. They are repeated here because their model imports this file. */
const webhookEndpoint = { columns: ['name', 'url', 'types', 'projectIds', 'ordered', 'disabledReason'] };

/** Names and addresses of directory users are left out: such people may never have joined, so no key exists that could seal the values. */
const directoryUser = { columns: ['active', 'isOffered'] };

const organization = { columns: [...Organization.columns, 'allowedNetworks'] };
const retention = { columns: ['runDays', 'logDays', 'artifactDays', 'sandboxDays'] };
const passkey = { columns: ['name'] };
const reason = { columns: ['reason'] };
const authorOf = { personal: { author: { of: 'author_user_id' } } } as const;
const deciderOf = { personal: { decided_by: { of: 'decided_by_user_id' } } } as const;
const hostThread = { columns: ['path', 'isResolved', 'resolvedBy'] };
const atHost = { key: ['key'], name: 'path' };

/** Sources by the name of their table. */
export const auditSources: Readonly<Record<string, AuditSource>> = {
  organizations: source('organization', organization, { ends: { closed_at: 'closed' } }),
  memberships: source('member', Membership, {
    ...{ key: ['user_id'], created: 'added', deleted: 'removed', ends: { closed_at: 'suspended' }, person: 'user_id' },
  }),
  invites: source('invite', Invite, { name: 'email', personal: { email: 'address' } }),
  people: source('person', Person, {
    ...{
      name: 'email',
      ends: { disabled_at: 'disabled' },
      person: 'id',
      personal: { email: { of: 'id' }, name: { of: 'id' } },
    },
  }),
  passkeys: source('passkey', passkey, {
    ...{ created: 'added', deleted: 'removed', person: 'person_id', personal: { name: { of: 'person_id' } } },
  }),
  sessions: source('session', Session, {
    ...{ name: 'user_agent', created: 'started', person: 'person_id' },
    personal: { user_agent: { of: 'person_id' }, address: { of: 'person_id' } },
  }),
  tokens: source('token', Token, { personal: { name: { of: 'user_id' } } }),
  service_tokens: source('runtime_token', ServiceToken),
  directory_tokens: source('directory_token', DirectoryToken),
  directory_users: source('directory_user', directoryUser, { name: 'id' }),
  directory_groups: source('directory_group', DirectoryGroup, { name: 'display_name' }),
  directory_group_members: source('directory_group_member', DirectoryGroupMember, {
    ...{ key: ['group_id', 'directory_user_id'], name: 'directory_user_id', created: 'added', deleted: 'removed' },
  }),
  sign_ins: source('application', SignIn, { name: 'client_name', created: 'authorized', person: 'user_id' }),
  agent_registrations: source('agent_identity', Registration, {
    ...{
      name: 'agent_name',
      ends: { claimed_at: 'claimed', revoked_at: 'revoked' },
      person: 'user_id',
      personal: { email: 'address' },
    },
  }),
  identity_providers: source('identity_provider', IdentityProvider, {
    ...{ created: 'connected', ends: { tested_at: 'tested' } },
  }),
  sign_in_domains: source('sign_in_domain', SignInDomain, {
    ...{ name: 'domain', created: 'added', ends: { verified_at: 'verified' } },
  }),
  provider_identities: source('provider_user', ProviderIdentity, {
    ...{ key: ['provider_id', 'user_id'], name: 'email', created: 'linked', deleted: 'forgotten', person: 'user_id' },
    personal: { email: { of: 'user_id' }, subject: { of: 'user_id' } },
  }),
  integrations: source('connector', Integration, {
    ...{ name: 'display_name', created: 'connected', deleted: 'disconnected', ends: { broken_since: 'broken' } },
  }),
  host_accounts: source('account_link', HostAccount, {
    ...{ key: ['user_id', 'vendor', 'host'], name: 'login' },
    personal: { account: { of: 'user_id' }, login: { of: 'user_id' } },
  }),
  projects: source('project', Project),
  agents: source('agent', { columns: [...Agent.columns, 'trialVersion', 'trialPercent'] }),
  sandbox_templates: source('sandbox_template', SandboxTemplate),
  secrets: source('secret', Secret),
  budgets: source('budget', Budget, { name: 'subject' }),
  orchestrators: source('orchestrator', Orchestrator, { key: ['org_id'] }),
  recurring_missions: source('recurring_mission', RecurringMission),
  inbound_hooks: source('inbound_hook', InboundHook),
  inbound_deliveries: source('inbound_delivery', InboundDelivery, {
    ...{ name: 'event', created: 'redelivered', state: 'status' },
  }),
  chat_connections: source('chat_connection', ChatConnection, { key: ['integration_id'], name: 'workspace_id' }),
  chat_channels: source('chat_channel', ChatChannel, {
    ...{ key: ['integration_id', 'channel_id'], created: 'bound', deleted: 'unbound' },
  }),
  issues: source('issue', Issue, { name: 'title' }),
  issue_comments: source('issue_comment', IssueComment, { name: 'author', ...authorOf }),
  attempt_groups: source('attempt_group', AttemptGroup, { name: 'title', state: 'state', ...deciderOf }),
  runs: source(
    'run',
    { columns: [...Run.columns, 'approvedSha'] },
    { name: 'mission_title', created: 'started', state: 'status' },
  ),
  run_messages: source('run_message', withoutText(RunMessage), { name: 'kind', created: 'sent', ...authorOf }),
  run_shares: source('run_link', RunShare, {
    ...{ name: 'id', personal: { created_by: 'actor', revoked_by: 'actor' } },
  }),
  reviews: source('review', ChangeReview, { name: 'verdict', created: 'submitted', ...authorOf }),
  review_comments: source('review_comment', ChangeComment, { name: 'path', personal: { resolved_by: 'actor' } }),
  pull_request_threads: source('host_thread', hostThread, {
    ...{ ...atHost, ends: { resolved_by: 'resolved' }, personal: { resolved_by: 'actor' } },
  }),
  outside_effects: source('outside_effect', OutsideEffect, {
    ...{ name: 'kind', created: 'staged', state: 'state', ...deciderOf },
  }),
  sandboxes: source('sandbox', Sandbox, { name: 'role', created: 'started', state: 'status' }),
  environments: source('environment', Environment, { name: 'worker_name', state: 'status' }),
  terminals: source('terminal', Terminal, { name: 'author', created: 'opened', ...authorOf }),
  mcp_configs: source('mcp_config', { columns: ['configPath'] }, { key: ['project_id'], name: 'config_path' }),
  mcp_bindings: source('mcp_server', McpBinding, { name: 'server_name', created: 'bound', deleted: 'unbound' }),
  mcp_grants: source(
    'mcp_authorization',
    { columns: [] },
    { key: ['binding_id'], name: 'server_name', created: 'granted', deleted: 'ended' },
  ),
  a2a_push_configs: source('push_config', { columns: ['url'] }, { key: ['run_id', 'id'], name: 'url' }),
  billing_settings: source('billing_settings', BillingSettings, { key: ['org_id'], name: 'tracker_triggers' }),
  billing_checkouts: source('checkout', BillingCheckout, { name: 'offer', state: 'status' }),
  billing_orders: source('order', BillingOrder, { name: 'offer', state: 'status', ends: { refunded_at: 'refunded' } }),
  billing_subscriptions: source('subscription', BillingSubscription, { name: 'plan', state: 'status' }),
  credit_requests: source('credit_request', CreditRequest, { name: 'id', ends: { closed_at: 'closed' } }),
  setup_guides: source('setup_guide', SetupGuide, { key: ['user_id', 'guide_id'], name: 'guide_id' }),
  setup_milestones: source('setup_milestone', SetupMilestone, { key: ['milestone_id'], name: 'milestone_id' }),
  org_closures: source('closure', closure, {
    ...{ key: ['org_id'], name: 'basis', created: 'started', ends: { settled_at: 'settled' } },
  }),
  audit_streams: source('audit_stream', { columns: ['address'] }, { key: ['org_id'], name: 'address' }),
  audit_counters: source('audit_retention', { columns: ['retentionDays'] }, { key: ['org_id'], created: 'updated' }),
  webhook_endpoints: source('webhook_endpoint', webhookEndpoint, { ends: { disabled_at: 'disabled' } }),
  recording_settings: source('recordings', { columns: ['isEnabled', 'days'] }, { key: ['org_id'], created: 'updated' }),
  retention_settings: source('retention', retention, { key: ['org_id'], created: 'updated' }),
  org_exports: source('export', orgExport, { key: ['org_id'], name: 'status', created: 'requested', state: 'status' }),
};

/** Actions that change no row, by the name that is passed to `recordAction`. */
export const auditActions: Readonly<Record<string, AuditSource>> = {
  refused_operation: source('operation', reason, { created: 'refused' }),
  refused_credential: source('credential', reason, {
    ...{ created: 'refused', personal: { name: { of: 'user_id' } }, addressOf: 'user_id' },
  }),
  refused_sign_in: source('sign_in', reason, { created: 'refused', personal: { name: { of: 'id' } }, addressOf: 'id' }),
  erased_person: source('person', { columns: ['invites', 'recordings'] }, { created: 'erased' }),
  omitted_refusals: source('refusal', { columns: ['kind', 'omitted', 'since'] }, { name: 'kind', created: 'omitted' }),
  joined_organization: source('organization', { columns: ['from'] }, { created: 'joined' }),
  resent_webhooks: source('webhook_endpoint', { columns: ['deliveries'] }, { created: 'resent' }),
  tested_webhooks: source('webhook_endpoint', { columns: [] }, { created: 'tested' }),
  host_thread_answers: source('host_thread', { columns: [] }, { ...atHost, created: 'answered' }),
};

/** Finds the audit source for the name of a table or of an entry in `auditActions`. Undefined for a table whose changes are not logged. */
export const sourceOf = (name: string): AuditSource | undefined => auditSources[name] ?? auditActions[name];

/** The columns of a message, without its text, which only the mission's page shows, and without the times of its delivery. */
function withoutText({ columns }: Pick<typeof BaseModel, 'columns'>) {
  return { columns: columns.filter((column) => column !== 'text' && !/(delivered|acknowledged)At/.test(column)) };
}
