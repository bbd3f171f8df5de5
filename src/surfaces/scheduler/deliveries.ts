// The handler of each background queue. A job may run twice, and in any process.
import { deliverPush } from '#domain/a2a/push.ts';
import { writeExport } from '#domain/closure/export.ts';
import { finishIssue } from '#domain/runs/finish-issue.ts';
import type { Handlers } from '#foundation/jobs/background.ts';
import { deliverMail } from '#foundation/mail/mail.ts';

export const deliveries = {
  mail: deliverMail,
  'finish issue': finishIssue,
  'a2a push': deliverPush,
  'export organization': writeExport,
} satisfies Required<Handlers>;
