// The page of the development mailbox, which receives mail while no mail server is configured. It shows sign-in codes, so it opens only
// on this machine, for a service on this machine, and with the secret that is printed at the start.

import { hours, isoTime } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { developmentMailbox, opensMailbox } from '#foundation/mail/mail.ts';
import { forbidden, notFound } from '#foundation/problem.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { answerPage, seeOther } from './layout.ts';
import { visitorOf } from './visitor.ts';

const loopback = /^((::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i;

/** The peer, the Host and the service's address must all be loopback: a request through a proxy or a rebound name is not local. */
export function mailboxIsOpenTo({ address, req }: Exchange): boolean {
  const host = `http://${req.headers.host}`;
  return (
    developmentMailbox() !== null &&
    loopback.test(address) &&
    loopback.test(new URL(addresses().issuer).hostname) &&
    URL.canParse(host) &&
    loopback.test(new URL(host).hostname)
  );
}

export async function showMailbox(exchange: Exchange): Promise<void> {
  if (!mailboxIsOpenTo(exchange)) throw notFound('page');
  const key = new URLSearchParams(exchange.search).get('key');
  if (opensMailbox(key)) {
    // Removes the secret from the URL, which browsers remember.
    setCookie(exchange, 'mailbox', key, hours(12));
    return seeOther(exchange, '/development/mailbox');
  }
  if (!opensMailbox(cookieOf(exchange, 'mailbox'))) {
    throw forbidden('The development mailbox opens with the link that the service printed when it started.');
  }
  const mails = developmentMailbox() ?? [];
  const body = html`<h1>Development mailbox</h1>
    <p class="muted">No mail server is set up (<code>SMTP_URL</code>), so emails are shown here. The last hundred are kept until the service stops.</p>
    ${mails.length === 0 && html`<p class="card">No emails yet. Sign-in codes and invites appear here.</p>`}
    ${mails.map(
      (mail) => html`<article class="card">
        <h2>${mail.subject}</h2>
        <p class="muted small">To ${mail.to} · <time datetime="${isoTime(mail.at)}">${isoTime(mail.at)}</time></p>
        <pre>${mail.text}</pre>
      </article>`,
    )}`;
  return answerPage(exchange, 200, { title: 'Development mailbox', body, visitor: await visitorOf(exchange) });
}
