// The periodic jobs with their intervals. Every process runs every job: jobs are idempotent, even when they run concurrently.

import { sweepMcpAuthorizations } from '#domain/execution/mcp-servers/authorization.ts';
import { continuePullRequests } from '#domain/execution/pull-requests/continue.ts';
import { forgetGoneRuntimes } from '#domain/execution/runtime/leave.ts';
import { continueParkedRuns, releasePausedRuns } from '#domain/execution/runtime/minutes.ts';
import { sweepAgentIdentities } from '#domain/identity/agent-identities/sweep.ts';
import { checkDomains } from '#domain/identity/identity-providers/domain-checks.ts';
import { refreshMetadata } from '#domain/identity/identity-providers/saml-providers.ts';
import { sweepProviderSignIns } from '#domain/identity/identity-providers/sign-in.ts';
import { sweepOAuth } from '#domain/identity/oauth/sweep.ts';
import { sweepSessions } from '#domain/identity/sessions/operations.ts';
import { numberAllChanges } from '#domain/lifecycle/audit/numbers.ts';
import { deleteOldEvents } from '#domain/lifecycle/audit/retention.ts';
import { startDeliveries } from '#domain/lifecycle/audit/stream/delivery.ts';
import { deleteHourlyCheckpoints, signCheckpoints } from '#domain/lifecycle/audit/tree/checkpoints.ts';
import { growAllTrees } from '#domain/lifecycle/audit/tree/growth.ts';
import { settleMissions, stopExhaustedMissions } from '#domain/lifecycle/billing-summary/settle.ts';
import { eraseClosedOrganizations } from '#domain/lifecycle/closure/erase.ts';
import { settleClosures } from '#domain/lifecycle/closure/steps.ts';
import { sweepInboxMarks } from '#domain/lifecycle/inbox/operations.ts';
import { notifyAboutMissions, sweepMissionNotices } from '#domain/lifecycle/mission-notices/tell.ts';
import { mailNotices } from '#domain/lifecycle/notices/mails.ts';
import { sweepDismissals } from '#domain/lifecycle/notices/operations.ts';
import { deleteAfterRetention } from '#domain/lifecycle/retention/delete.ts';
import { deliverWebhooks, stopWebhooks } from '#domain/lifecycle/webhooks/deliver.ts';
import { sweepWebhookDeliveries, writeWebhookDeliveries } from '#domain/lifecycle/webhooks/deliveries.ts';
import { renewTestSubscriptions } from '#domain/money/billing/events.ts';
import { sendRefunds } from '#domain/money/billing/withdrawal.ts';
import { recordOmittedRefusals } from '#domain/organization/audit-changes/refusals.ts';
import { sweepSignIns } from '#domain/organization/people/sign-in-codes.ts';
import { writePushNotifications } from '#domain/work/a2a/push.ts';
import { sweepArtifacts } from '#domain/work/artifacts/content.ts';
import { followThreads } from '#domain/work/chat-threads/threads.ts';
import { expireEnvironments } from '#domain/work/environments/operations.ts';
import { sweepDeliveries } from '#domain/work/inbound/deliveries.ts';
import { retryDeliveries } from '#domain/work/inbound/retry.ts';
import { archiveLogs } from '#domain/work/log-archives/archive.ts';
import { deleteOldRecordings } from '#domain/work/recordings/operations.ts';
import { areManyMissionsDue, dispatchDue } from '#domain/work/recurring/dispatch.ts';
import { deleteOldShares } from '#domain/work/replays/operations.ts';
import { answerWaits } from '#domain/work/runs/answers.ts';
import { followPullRequests } from '#domain/work/runs/branch.ts';
import { indexRunTexts, removeOldLogWords } from '#domain/work/runs/search.ts';
import {
  cancelRunsOfDeletedAgents,
  explainWaits,
  failOverdueRuns,
  releaseSilentRuns,
} from '#domain/work/runs/waiting.ts';
import { endOverdueSandboxes } from '#domain/work/sandboxes/end.ts';
import { keepMetricPartitions } from '#domain/work/sandboxes/metric-partitions.ts';
import { sweepTerminals } from '#domain/work/terminals/state.ts';
import { hours, minutes, seconds } from '#foundation/clock.ts';
import { sweepThrottleCounts } from '#foundation/http/throttle.ts';
import { sweepIdempotencyKeys } from '#foundation/postgres/idempotency.ts';

export interface Job {
  name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  intervalMs: number;
  run(): Promise<unknown>;
  /** Whether there is more urgent work. If so, the job waits, for a few seconds at most. */
  yieldsWhile?: () => Promise<boolean>;
  /** Ends the work that the job has started and that outlives a run; resolves when it has ended. */
  stop?(): Promise<void>;
}

export const jobs: readonly Job[] = [
  {
    name: 'number the changes of the audit log',
    intervalMs: seconds(2),
    run: numberAllChanges,
    yieldsWhile: areManyMissionsDue,
  },
  { name: 'add events to the trees of the audit log', intervalMs: seconds(2), run: growAllTrees },
  { name: 'send audit logs to their destinations', intervalMs: seconds(2), run: startDeliveries },
  {
    name: 'sign checkpoints of the audit log',
    intervalMs: minutes(1),
    run: signCheckpoints,
    yieldsWhile: areManyMissionsDue,
  },
  { name: 'delete hourly checkpoints of the audit log', intervalMs: hours(1), run: deleteHourlyCheckpoints },
  { name: 'write deliveries of webhooks', intervalMs: seconds(1), run: writeWebhookDeliveries },
  { name: 'send webhooks', intervalMs: seconds(1), run: deliverWebhooks, stop: stopWebhooks },
  { name: 'sweep deliveries of webhooks', intervalMs: hours(1), run: sweepWebhookDeliveries },
  { name: 'delete old events of the audit log', intervalMs: hours(1), run: deleteOldEvents },
  { name: 'record the number of further refusals', intervalMs: minutes(5), run: recordOmittedRefusals },
  { name: 'start due missions', intervalMs: 500, run: dispatchDue },
  { name: 'release runs of silent runtimes', intervalMs: seconds(5), run: releaseSilentRuns },
  { name: 'release parked runs', intervalMs: seconds(5), run: releasePausedRuns },
  { name: 'continue parked runs', intervalMs: seconds(5), run: continueParkedRuns },
  { name: 'write push notifications of A2A tasks', intervalMs: seconds(1), run: writePushNotifications },
  { name: 'end sandboxes after their time limit', intervalMs: seconds(10), run: endOverdueSandboxes },
  { name: 'settle missions', intervalMs: seconds(1), run: settleMissions },
  { name: 'stop missions without credits', intervalMs: seconds(5), run: stopExhaustedMissions },
  { name: 'renew subscriptions of the built-in provider', intervalMs: minutes(1), run: renewTestSubscriptions },
  { name: 'send refunds', intervalMs: seconds(10), run: sendRefunds },
  { name: 'settle closed organizations', intervalMs: seconds(5), run: settleClosures },
  { name: 'erase closed organizations', intervalMs: hours(1), run: eraseClosedOrganizations },
  { name: 'explain what runs wait for', intervalMs: seconds(2), run: explainWaits, yieldsWhile: areManyMissionsDue },
  { name: 'continue the missions of pull requests', intervalMs: seconds(2), run: continuePullRequests },
  { name: 'answer events whose missions wait', intervalMs: seconds(2), run: answerWaits },
  { name: 'report missions in chat threads', intervalMs: seconds(1), run: followThreads },
  { name: 'index the text of missions', intervalMs: seconds(2), run: indexRunTexts },
  { name: 'remove old logs from the search', intervalMs: minutes(10), run: removeOldLogWords },
  { name: 'follow pull requests', intervalMs: seconds(10), run: followPullRequests },
  { name: 'cancel runs of deleted agents', intervalMs: minutes(1), run: cancelRunsOfDeletedAgents },
  { name: 'fail runs that no runtime claimed', intervalMs: minutes(1), run: failOverdueRuns },
  { name: 'delete runtimes that are gone', intervalMs: hours(1), run: forgetGoneRuntimes },
  { name: 'take down environments that have expired', intervalMs: minutes(1), run: expireEnvironments },
  { name: 'sweep idempotency keys', intervalMs: minutes(10), run: sweepIdempotencyKeys },
  { name: 'sweep throttle counts', intervalMs: minutes(10), run: sweepThrottleCounts },
  { name: 'sweep sign-in codes and links', intervalMs: minutes(10), run: sweepSignIns },
  { name: 'sweep sign-ins at identity providers', intervalMs: minutes(10), run: sweepProviderSignIns },
  { name: 'check verified domains', intervalMs: minutes(10), run: checkDomains },
  { name: 'read metadata of identity providers', intervalMs: minutes(10), run: refreshMetadata },
  { name: 'sweep dismissals of notices', intervalMs: hours(1), run: sweepDismissals },
  { name: 'sweep marks of the inbox', intervalMs: hours(1), run: sweepInboxMarks },
  { name: 'notify people about their missions', intervalMs: seconds(2), run: notifyAboutMissions },
  { name: 'sweep links to missions', intervalMs: hours(1), run: deleteOldShares },
  { name: 'sweep notices of missions', intervalMs: hours(1), run: sweepMissionNotices },
  { name: 'mail notices', intervalMs: seconds(10), run: mailNotices },
  { name: 'sweep sessions', intervalMs: hours(1), run: sweepSessions },
  { name: 'sweep OAuth codes, tokens, keys and clients', intervalMs: hours(1), run: sweepOAuth },
  { name: 'sweep unfinished connections of MCP servers', intervalMs: minutes(10), run: sweepMcpAuthorizations },
  { name: 'sweep unclaimed agents', intervalMs: hours(1), run: sweepAgentIdentities },
  { name: 'delete old recordings', intervalMs: hours(1), run: deleteOldRecordings },
  { name: 'archive the logs of ended missions', intervalMs: seconds(5), run: archiveLogs },
  {
    name: 'delete logs, artifacts, sandboxes and details of runs after their retention',
    intervalMs: hours(1),
    run: deleteAfterRetention,
  },
  { name: 'sweep artifacts and their contents', intervalMs: hours(1), run: sweepArtifacts },
  { name: 'retry events that wait', intervalMs: seconds(2), run: retryDeliveries },
  { name: 'sweep terminals', intervalMs: hours(1), run: sweepTerminals },
  { name: 'sweep inbound events', intervalMs: hours(1), run: sweepDeliveries },
  { name: 'create and drop partitions of sandbox metrics', intervalMs: minutes(10), run: keepMetricPartitions },
];
