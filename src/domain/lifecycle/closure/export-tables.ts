// Defines which tables the export of an organization contains. Each table is exported with only the columns that its database model
// declares. Secrets and their digests are not among these columns.
import type { BaseModel } from '#foundation/postgres/base-model.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { columnsOf, reference, snake } from '#foundation/postgres/reads.ts';
import { Checkpoint } from '../../execution/checkpoints/model.ts';
import { McpBinding, McpCall } from '../../execution/mcp-servers/model.ts';
import { ChangeComment, ChangeReview } from '../../execution/reviews/model.ts';
import { Registration } from '../../identity/agent-identities/model.ts';
import { SignInDomain } from '../../identity/identity-providers/domain-model.ts';
import { ProviderIdentity } from '../../identity/identity-providers/identity-model.ts';
import { IdentityProvider } from '../../identity/identity-providers/model.ts';
import { SignIn } from '../../identity/oauth/sign-ins.ts';
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
import { CreditEntry, CreditLot, CreditTransfer } from '../../money/credits/model.ts';
import { DirectoryGroup, DirectoryGroupMember, DirectoryUser } from '../../organization/directory/model.ts';
import { Invite } from '../../organization/invites/model.ts';
import { Membership } from '../../organization/memberships/model.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { Person } from '../../organization/people/model.ts';
import { Agent } from '../../projects/agents/model.ts';
import { AgentVersion } from '../../projects/agents/version-model.ts';
import { OutsideEffect } from '../../projects/effects/model.ts';
import { HostAccount } from '../../projects/host-accounts/model.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { IssueComment } from '../../projects/issues/comment-model.ts';
import { Issue } from '../../projects/issues/model.ts';
import { Project } from '../../projects/projects/model.ts';
import { SandboxTemplate } from '../../projects/sandbox-templates/model.ts';
import { Secret } from '../../projects/secrets/model.ts';
import { Artifact, StoredContent } from '../../work/artifacts/model.ts';
import { AttemptGroup } from '../../work/attempts/model.ts';
import { Attestation } from '../../work/attestations/model.ts';
import { Budget } from '../../work/budgets/model.ts';
import { ChangeVersion } from '../../work/change-versions/model.ts';
import { ChatChannel, ChatConnection, ChatPost, ChatThread } from '../../work/chat-threads/model.ts';
import { Connection } from '../../work/connections/model.ts';
import { Environment } from '../../work/environments/model.ts';
import { RunFork } from '../../work/forks/model.ts';
import { InboundDelivery } from '../../work/inbound/model.ts';
import { InboundHook } from '../../work/inbound-hooks/model.ts';
import { MissionCost } from '../../work/mission-costs/model.ts';
import { MissionView } from '../../work/mission-views/model.ts';
import { Orchestrator } from '../../work/orchestrator/model.ts';
import { Preparation } from '../../work/preparations/model.ts';
import { RecordingPart } from '../../work/recordings/model.ts';
import { RecurringMission } from '../../work/recurring/model.ts';
import { RunShare } from '../../work/replays/model.ts';
import { archivedCalls } from '../../work/run-calls/archive.ts';
import { RunCall } from '../../work/run-calls/model.ts';
import { RunFollower } from '../../work/runs/follower-model.ts';
import { RunMessage } from '../../work/runs/message-model.ts';
import { Run } from '../../work/runs/model.ts';
import { RunStep } from '../../work/runs/step-model.ts';
import { PullRequestThread } from '../../work/runs/thread-model.ts';
import { archivedFragments, archivedLogParts } from '../../work/sandboxes/archive-export.ts';
import { Sandbox, SandboxFragment, SandboxLogPart, SandboxMetric, SandboxSession } from '../../work/sandboxes/model.ts';
import { Terminal } from '../../work/terminals/model.ts';
import { AuditEvent } from '../audit/model.ts';
import { openPersonal } from '../audit/personal.ts';
import { AuditStream } from '../audit/stream/model.ts';
import { AuditCheckpoint } from '../audit/tree/model.ts';
import { InboxMark } from '../inbox/model.ts';
import { NoticeDismissal } from '../notices/model.ts';
import { SetupGuide, SetupMilestone } from '../setup/model.ts';
import { WebhookDelivery, WebhookEndpoint } from '../webhooks/model.ts';
import { OrgClosure } from './model.ts';

type Model = Pick<typeof BaseModel, 'tableName' | 'columns'>;

/** Database models whose rows contain the id of their organization. */
const ofOrganization: readonly Model[] = [
  ...[
    OrgClosure,
    Membership,
    Invite,
    SignInDomain,
    IdentityProvider,
    ProviderIdentity,
    Project,
    Integration,
    HostAccount,
    Orchestrator,
    Budget,
    Agent,
    AgentVersion,
    SandboxTemplate,
    Secret,
    InboundHook,
    InboundDelivery,
    ChatConnection,
    ChatChannel,
    ChatThread,
    RecurringMission,
    Issue,
    IssueComment,
  ],
  ...[
    AttemptGroup,
    RunShare,
    RecordingPart,
    MissionView,
    Run,
    RunStep,
    RunMessage,
    RunFollower,
    RunCall,
    Attestation,
    RunFork,
    Checkpoint,
    ChangeReview,
    ChangeVersion,
    PullRequestThread,
    ChangeComment,
    OutsideEffect,
    MissionCost,
    Sandbox,
    Environment,
    Connection,
    Preparation,
    Terminal,
    Artifact,
    StoredContent,
    McpBinding,
    McpCall,
  ],
  ...[DirectoryToken, DirectoryUser, DirectoryGroup, DirectoryGroupMember],
  ...[Token, ServiceToken, SignIn, Registration, SetupMilestone, SetupGuide, NoticeDismissal, InboxMark],
  ...[CreditLot, CreditTransfer, CreditRequest],
  ...[AuditEvent, AuditCheckpoint, AuditStream, WebhookEndpoint, WebhookDelivery],
  ...[BillingSettings, BillingOrder, BillingSubscription, BillingCheckout],
];
/** Database models whose rows do not contain the id of their organization. Each row refers to a row of another model, which contains this id. */
const ofParent: readonly (readonly [model: Model, column: string, parent: Model, id?: string])[] = [
  [CreditEntry, 'transferId', CreditTransfer, reference('id')],
  [ChatPost, 'threadId', ChatThread],
  ...[SandboxSession, SandboxLogPart, SandboxFragment, SandboxMetric].map(
    (model) => [model, 'sandboxId', Sandbox] as const,
  ),
];

export interface ExportTable {
  /** Name of the table. */
  name: string;
  /** Query that returns one column `row` with JSON as text. Its only parameter is the id of the organization. */
  query: string;
  /** Changes rows after they are read. */
  map?: (trx: Transaction, orgId: string, rows: readonly string[]) => Promise<string[]>;
  /** Additional rows that are not in the database. */
  more?: (trx: Transaction, orgId: string) => AsyncIterable<string>;
}

const table = ({ tableName, columns }: Model, condition: string): ExportTable => ({
  name: tableName,
  query: `select row_to_json(t)::text as row from (select ${columnsOf({ columns })} from "${tableName}" where ${condition}) t`,
});
/** Adds the readable personal values to the events as a separate member; all other members are the same as in the Merkle tree. */
async function addPersonalValues(trx: Transaction, orgId: string, rows: readonly string[]): Promise<string[]> {
  const events = rows.map((row) => JSON.parse(row) as AuditEvent);
  const opened = await openPersonal(orgId, events, trx);
  return events.map((event, i) => JSON.stringify({ ...event, personal: opened[i]!.values }));
}

const idsOf = ({ tableName }: Model, id = 'id'): string => `select ${id} from "${tableName}" where org_id = ?`;

export const exportTables: readonly ExportTable[] = [
  table(Organization, 'id = ?'),
  // People are exported only with the columns that the organization can see.
  table({ tableName: Person.tableName, columns: ['id', 'email', 'name'] }, `id in (${idsOf(Membership, 'user_id')})`),
  ...ofOrganization.map((model) => ({
    ...table(model, 'org_id = ?'),
    ...(model === AuditEvent && { map: addPersonalValues }),
    ...(model === RunCall && { more: archivedCalls }),
  })),
  ...ofParent.map(([model, column, parent, id]) => ({
    ...table(model, `"${snake(column)}" in (${idsOf(parent, id)})`),
    ...(model === SandboxLogPart && { more: archivedLogParts }),
    ...(model === SandboxFragment && { more: archivedFragments }),
  })),
];
