// The handlers of the background queues. A job may run twice, in any process.

import { commitNextEffect } from '#domain/execution/outside-effects/commit.ts';
import { resolveComments, writeReviewToHost } from '#domain/execution/reviews/host.ts';
import { resolveThreadOfComment } from '#domain/execution/reviews/host-threads.ts';
import { processSessionEvent } from '#domain/lifecycle/agent-sessions/process.ts';
import { finishTrackerIssue, reportThread } from '#domain/lifecycle/agent-sessions/report.ts';
import { deliverAuditLog } from '#domain/lifecycle/audit/stream/delivery.ts';
import { processChatEvent } from '#domain/lifecycle/chat/process.ts';
import { replyInChat } from '#domain/lifecycle/chat/settle.ts';
import { writeExport } from '#domain/lifecycle/closure/export.ts';
import { answerOrigin } from '#domain/lifecycle/mission-notices/origin.ts';
import { signRun } from '#domain/lifecycle/statements/sign.ts';
import { deliverPush } from '#domain/work/a2a/push.ts';
import { settleAttempts } from '#domain/work/attempts/settle.ts';
import { processDelivery } from '#domain/work/inbound/process.ts';
import { reactToEvent } from '#domain/work/inbound/reaction.ts';
import { reportStatus } from '#domain/work/runs/commit-status.ts';
import type { Handlers } from '#foundation/jobs/background.ts';
import { deliverMail } from '#foundation/mail/mail.ts';

export const deliveries = {
  mail: deliverMail,
  'finish issue': finishTrackerIssue,
  'a2a push': deliverPush,
  'answer event': answerOrigin,
  'commit status': reportStatus,
  attest: signRun,
  'host review': writeReviewToHost,
  'host thread': resolveThreadOfComment,
  'resolved comments': resolveComments,
  'inbound event': processDelivery,
  'session event': processSessionEvent,
  'chat event': processChatEvent,
  'chat reply': replyInChat,
  'chat thread': reportThread,
  'commit effects': commitNextEffect,
  attempts: settleAttempts,
  reaction: reactToEvent,
  'audit stream': deliverAuditLog,
  'export organization': writeExport,
} satisfies Required<Handlers>;
