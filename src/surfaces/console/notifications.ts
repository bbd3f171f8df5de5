// The page on which a person chooses which notices are emailed.
import { z } from 'zod';
import { chooseMail, listMailChoices, type MailKind, mailKinds } from '#domain/notices/mail-settings.ts';
import { notificationsPath } from '#domain/notices/mails.ts';
import { html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { answerPage, csrfField, type Visitor } from './layout.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

const words: Record<MailKind, string> = {
  credits: 'Credits are low or used up',
  cost_cap: 'The daily cost cap is reached',
  token_expiring: 'A token of mine expires within a day',
  connector_broken: 'A connector is broken',
  schedule_failing: 'A recurring mission keeps failing',
  run_waiting: 'A run waits for a runtime',
};

export const showNotifications: Handler = personsPage((exchange, visitor) => answerChoices(exchange, visitor));

const fields = z.object(Object.fromEntries(mailKinds.map((kind) => [kind, z.literal('on').optional()])));

export const saveNotifications: Handler = personsForm(async (exchange, visitor, form) => {
  const checked = fieldsOf(form, fields);
  for (const { kind, enabled } of await listMailChoices(visitor.caller)) {
    const wanted = checked[kind] === 'on';
    if (wanted !== enabled) await chooseMail(visitor.caller, { kind, enabled: wanted });
  }
  await answerChoices(exchange, visitor, 'Saved.');
});

async function answerChoices(exchange: Exchange, visitor: Visitor, said?: string): Promise<void> {
  const choices = await listMailChoices(visitor.caller);
  const body = html`<h1>Notifications</h1>
    <p class="lead">Notices that need action are emailed once: to owners and admins of an organization, and to the owner of a token.</p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    <section class="card"><h2>Email me when</h2>
      <form method="post" action="${notificationsPath}">${csrfField(visitor)}
        <ul class="list">${choices.map(
          ({ kind, enabled }) =>
            html`<li><label class="check"><input type="checkbox" name="${kind}" value="on"${enabled && html` checked`}>${words[kind]}</label></li>`,
        )}</ul>
        <p class="actions"><button>Save</button></p>
      </form>
    </section>`;
  return answerPage(exchange, 200, { title: 'Notifications', body, visitor });
}
