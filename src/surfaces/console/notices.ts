// The notices of the signed-in person above the overview, each with a button that dismisses it.
import { z } from 'zod';
import { admit } from '#access/gate.ts';
import { notificationsPath } from '#domain/notices/mails.ts';
import type { Notice } from '#domain/notices/model.ts';
import { dismissNotice, listNotices } from '#domain/notices/operations.ts';
import { type Html, html } from '#foundation/html.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { csrfField, seeOther, type Visitor } from './layout.ts';
import { fieldsOf, personsForm } from './visitor.ts';

export const dismissalAddress = '/console/notices/dismissal';

/** Null when there is no notice, or the person may not read them. */
export async function noticeList(visitor: Visitor): Promise<Html | null> {
  if (!visitor.caller.scopes.has('setup:read')) return null;
  const notices = await listNotices(visitor.caller);
  if (notices.length === 0) return null;
  return html`<section aria-label="Notices">${notices.map((notice) => oneNotice(visitor, notice))}
    <p class="small"><a href="${notificationsPath}">Choose what is emailed to you</a></p></section>`;
}

const oneNotice = (visitor: Visitor, { id, kind, title, body, actionUrl }: Notice): Html =>
  html`<div class="note${kind === 'action' && ' error'} row">
    <div><strong>${title}</strong><div>${body}</div></div>
    <div class="actions">${actionUrl && html`<a class="button quiet" href="${actionUrl}">Open <span class="unseen">${title}</span></a>`}
    ${
      visitor.caller.scopes.has('setup:write') &&
      html`<form method="post" action="${dismissalAddress}">${csrfField(visitor)}<input type="hidden" name="notice_id" value="${id}">
      <button class="quiet">Dismiss <span class="unseen">${title}</span></button></form>`
    }</div>
  </div>`;

const fields = z.object({ notice_id: boundedText(text.pathId) });

export const dismissOwnNotice = personsForm(async (exchange, { caller }, form) => {
  admit(caller, 'setup:write');
  await dismissNotice(caller, fieldsOf(form, fields).notice_id);
  seeOther(exchange, '/console/overview');
});
