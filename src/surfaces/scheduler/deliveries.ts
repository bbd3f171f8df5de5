// What is done in the background with each kind of job: one list. A job may be done twice, and by any process.
import { finishIssue } from '#domain/runs/finish-issue.ts';
import type { Handlers } from '#foundation/background.ts';
import { deliverMail } from '#foundation/mail.ts';

export const deliveries = { mail: deliverMail, 'finish issue': finishIssue } satisfies Required<Handlers>;
