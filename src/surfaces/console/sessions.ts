// A person's sessions, one per browser: lists them, ends one, or ends all other sessions
// (docs/decisions/0032-sign-in-without-passwords.md).
import { z } from 'zod';
import type { Session } from '#domain/identity/sessions/model.ts';
import { endOtherSessions, endSession, listSessions } from '#domain/identity/sessions/operations.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { setSessionCookie } from '../cookie.ts';
import { deviceName } from './device.ts';
import { answerPage, csrfField, seeOther, type Visitor } from './layout.ts';
import { ago, day } from './time.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const showSessions: Handler = personsPage((exchange, visitor) => answerSessions(exchange, visitor));

export const endOwnSession: Handler = personsForm(async (exchange, visitor, form) => {
  const { session_id } = fieldsOf(form, z.object({ session_id: boundedText(text.pathId) }));
  await endSession(visitor.caller, session_id);
  if (session_id === visitor.caller.credentialId) {
    setSessionCookie(exchange, null);
    return seeOther(exchange, '/sign-in');
  }
  await answerSessions(exchange, visitor, 'Session ended. That browser must sign in again.');
});

export const endOwnOtherSessions: Handler = personsForm(async (exchange, visitor) => {
  const count = await endOtherSessions(visitor.caller);
  const words =
    ['No other session was open', 'One other session was ended'][count] ?? `${count} other sessions were ended`;
  await answerSessions(exchange, visitor, `${words}. Only this browser is signed in.`);
});

async function answerSessions(exchange: Exchange, visitor: Visitor, said?: string): Promise<void> {
  const sessions = await listSessions(visitor.caller);
  const isThis = ({ id }: Session) => id === visitor.caller.credentialId;
  const ordered = [...sessions.filter(isThis), ...sessions.filter((session) => !isThis(session))];
  const body = html`<h1>Sessions</h1>
    <p class="lead">Browsers in which you are signed in. End any session that you do not recognize.</p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    <section class="card"><h2>Signed in</h2>
      <ul class="list">${ordered.map((session) => oneSession(session, isThis(session), visitor))}</ul>
      ${
        sessions.length > 1 &&
        html`<form method="post" action="/console/sessions/end-others" class="more">${csrfField(visitor)}
        <button class="danger">End all other sessions</button></form>`
      }
    </section>`;
  return answerPage(exchange, 200, { title: 'Sessions', body, visitor });
}

function oneSession(
  { id, userAgent, address, createdAt, lastUsedAt }: Session,
  isThis: boolean,
  visitor: Visitor,
): Html {
  const device = deviceName(userAgent);
  return html`<li class="row">
      <div><strong>${device}</strong> ${isThis && html`<span class="tag good">This browser</span>`}
        <div class="muted small">${address && html`From ${address} · `}Last used ${ago(lastUsedAt)} · Signed in ${day(createdAt)}</div></div>
      ${
        !isThis &&
        html`<form method="post" action="/console/sessions/end">${csrfField(visitor)}<input type="hidden" name="session_id" value="${id}">
        <button class="quiet" aria-label="End the session of ${device}">End</button></form>`
      }
    </li>`;
}
