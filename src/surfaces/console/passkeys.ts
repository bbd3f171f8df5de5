// The page on which people list, create and remove their passkeys, and the card of the account page that suggests a first passkey.
import { z } from 'zod';
import {
  arePasskeysPossible,
  createPasskey,
  listPasskeys,
  type Passkey,
  passkeyCreationOptions,
  removePasskey,
} from '#domain/organization/people/passkeys.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { lifetimesMs, text } from '#limits.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { deviceName } from './device.ts';
import { answerPage, csrfField, formError, seeOther, type Visitor } from './layout.ts';
import { accountAddress } from './pages.ts';
import { createdPasskey, passkeyForm, passkeyPageScript } from './passkey-form.ts';
import { ago, day } from './time.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const passkeysAddress = '/console/passkeys';
const skippedCookie = 'passkey-offer';

export const showPasskeys: Handler = personsPage((exchange, visitor) => answerPasskeys(exchange, visitor));

export const answerCreationOptions: Handler = personsForm(async (exchange, { caller, person }) =>
  answerJson(exchange, 200, await passkeyCreationOptions(caller, person), { 'cache-control': 'no-store' }),
);

export const createOwnPasskey: Handler = personsForm(async (exchange, visitor, form) => {
  try {
    const device = deviceName(exchange.req.headers['user-agent'] ?? null);
    await createPasskey(visitor.caller, visitor.person, createdPasskey(form), device);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) throw error;
    return answerPasskeys(exchange, visitor, { problem });
  }
  await answerPasskeys(exchange, visitor, { said: 'Passkey created. You can now sign in with it.' });
});

export const removeOwnPasskey: Handler = personsForm(async (exchange, visitor, form) => {
  const { passkey_id } = fieldsOf(form, z.object({ passkey_id: boundedText(text.pathId) }));
  await removePasskey(visitor.caller, passkey_id);
  const said = 'Passkey removed. Also delete it in your password manager or on your device.';
  await answerPasskeys(exchange, visitor, { said });
});

/** Hides the offer of a passkey in this browser. */
export const skipPasskeyOffer: Handler = personsForm((exchange) => {
  setCookie(exchange, skippedCookie, 'skipped', lifetimesMs.knownBrowser);
  seeOther(exchange, accountAddress);
  return Promise.resolve();
});

/** The offer for a person without a passkey who has not skipped the offer in this browser; null for anybody else. */
export async function passkeyOffer(exchange: Exchange, visitor: Visitor): Promise<Html | null> {
  if (visitor.caller.isOrgOnly || !arePasskeysPossible() || cookieOf(exchange, skippedCookie)) return null;
  if ((await listPasskeys(visitor.caller)).length > 0) return null;
  return html`<section class="card" data-needs-passkeys hidden>
    <h2>Sign in faster next time</h2>
    <p class="muted">A passkey signs you in with your fingerprint, face or screen lock, without a code.</p>
    <div class="actions">${creationForm(visitor)}
      <form method="post" action="${passkeysAddress}/skip">${csrfField(visitor)}<button class="quiet">Not now</button></form>
    </div>
  </section>`;
}

const creationForm = (visitor: Visitor): Html =>
  passkeyForm('create', passkeysAddress, 'Create passkey', csrfField(visitor));

async function answerPasskeys(
  exchange: Exchange,
  visitor: Visitor,
  { said, problem }: { said?: string; problem?: Problem } = {},
): Promise<void> {
  const passkeys = await listPasskeys(visitor.caller);
  const body = html`<h1>Passkeys</h1>
    <p class="lead">A passkey signs you in with your fingerprint, face or screen lock, without a code.</p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    ${formError(problem?.body.description)}
    <section class="card">
      <h2>${passkeys.length > 0 ? 'Your passkeys' : 'You have no passkey yet'}</h2>
      ${passkeys.length > 0 && html`<ul class="list">${passkeys.map((passkey) => onePasskey(passkey, visitor))}</ul>`}
      <div class="more" data-needs-passkeys hidden>${creationForm(visitor)}</div>
      ${!arePasskeysPossible() && html`<p class="note">Passkeys need a console at a domain name over https, or at localhost.</p>`}
      <noscript><p class="note">Creating a passkey needs JavaScript.</p></noscript>
    </section>`;
  const page = { title: 'Passkeys', body, visitor, script: passkeyPageScript() };
  return answerPage(exchange, problem?.status ?? 200, page);
}

const onePasskey = ({ id, name, createdAt, lastUsedAt }: Passkey, visitor: Visitor): Html => html`<li class="row">
      <div><strong>${name}</strong>
        <div class="muted small">Created ${day(createdAt)} · ${lastUsedAt === null ? 'Never used' : html`Last used ${ago(lastUsedAt)}`}</div></div>
      <details class="confirm">
        <summary><span class="closed">Remove <span class="unseen">${name}</span></span><span class="opened">Cancel</span></summary>
        <form method="post" action="${passkeysAddress}/remove">${csrfField(visitor)}<input type="hidden" name="passkey_id" value="${id}">
          <p>You can no longer sign in with this passkey. Your sessions stay.</p>
          <button class="danger sure">Remove <span class="unseen">${name}</span></button></form>
      </details>
    </li>`;
