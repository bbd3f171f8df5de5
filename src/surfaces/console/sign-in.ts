// Sign-in by an emailed code, and sign-out. Links, passkeys and the upstream provider are in separate files; all call `signIn`.
import { z } from 'zod';
import { providerOfAddress } from '#domain/identity/identity-providers/operations.ts';
import { refusalOfSignIn } from '#domain/identity/refusals/operations.ts';
import { endSession, openSession, type ProviderProof } from '#domain/identity/sessions/operations.ts';
import { emailAddress } from '#domain/organization/people/email.ts';
import type { Person } from '#domain/organization/people/model.ts';
import { findPersonByAddress } from '#domain/organization/people/operations.ts';
import {
  arePasskeysPossible,
  passkeySignInOptions,
  personOfPasskey,
  usePasskey,
} from '#domain/organization/people/passkeys.ts';
import { sendSignInCode, useSignInCode } from '#domain/organization/people/sign-in-codes.ts';
import { otherCells, ownCell } from '#foundation/http/cells.ts';
import { html } from '#foundation/http/html.ts';
import { answerJson, type Exchange, type Handler } from '#foundation/http/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { plainText } from '#graph/validation.ts';
import { setSessionCookie } from '../cookie.ts';
import { browserOf, browserSecret, keepBrowserSecret, rememberBrowser } from './browser.ts';
import { answerPage, formError, seeOther } from './layout.ts';
import { mailboxIsOpenTo } from './mailbox.ts';
import { assertedPasskey, passkeyForm, passkeyPageScript } from './passkey-form.ts';
import { answerProviderChoice } from './sso-choice.ts';
import { fieldsOf, ownPath, personsForm, readOwnForm, visitorOf } from './visitor.ts';

const emailForm = z.object({ email: emailAddress });
const codeForm = emailForm.extend({ code: plainText() });

/** Sign-in with the operator's OpenID provider (upstream.ts, loaded only if one is configured). */
export const upstreamPaths = { start: '/sign-in/upstream', return: '/sign-in/upstream/return' };

/** The URL at which a person starts to sign in to this cell with their session in another cell (cell-sign-in.ts). */
const cellSignInAddress = (cell: string, returnTo: string): string =>
  `/sign-in/cell?${new URLSearchParams({ cell, return_to: returnTo })}`;

/** Creates the handlers. @param upstream Issuer of the provider that the page offers (upstream.ts), or null */
export function createSignIn(upstream: string | null): {
  showSignIn: Handler;
  sendCode: Handler;
  enterPasskey: Handler;
} {
  return {
    async showSignIn(exchange) {
      const returnTo = ownPath(new URLSearchParams(exchange.search).get('return_to'));
      if (await visitorOf(exchange)) return seeOther(exchange, returnTo);
      return answerEmailForm(exchange, upstream, 200, { email: '', returnTo });
    },

    /** The response is the same with or without an account: the first sign-in creates the account. */
    async sendCode(exchange) {
      const form = await readOwnForm(exchange);
      const entered = { email: form.get('email') ?? '', returnTo: ownPath(form.get('return_to')) };
      try {
        const { email } = fieldsOf(form, emailForm);
        const provider = form.get('way') === 'code' ? undefined : await providerOfAddress(email);
        if (provider) return await answerProviderChoice(exchange, provider, { ...entered, email });
        const secret = keepBrowserSecret(exchange);
        await sendSignInCode(email, { ...browserOf(exchange, email), secret }, entered.returnTo);
        await answerCodeForm(exchange, 200, { ...entered, email });
      } catch (error) {
        await answerEmailForm(exchange, upstream, ...refused(error, entered));
      }
    },

    async enterPasskey(exchange) {
      const form = await readOwnForm(exchange);
      const returnTo = ownPath(form.get('return_to'));
      try {
        const person = await usePasskey(assertedPasskey(form), browserSecret(exchange));
        await signIn(exchange, person, returnTo);
      } catch (error) {
        noteRefusedSignIn(exchange, error, () => personOfPasskey(assertedPasskey(form).id));
        await answerEmailForm(exchange, upstream, ...refused(error, { email: '', returnTo }));
      }
    },
  };
}

/** A new challenge, bound to this browser. */
export async function answerPasskeyOptions(exchange: Exchange): Promise<void> {
  await readOwnForm(exchange);
  const options = await passkeySignInOptions(keepBrowserSecret(exchange));
  answerJson(exchange, 200, options, { 'cache-control': 'no-store' });
}

export async function enterCode(exchange: Exchange): Promise<void> {
  const form = await readOwnForm(exchange);
  const entered = { email: form.get('email') ?? '', returnTo: ownPath(form.get('return_to')) };
  try {
    const { email, code } = fieldsOf(form, codeForm);
    const person = await useSignInCode(email, browserOf(exchange, email), code.replace(/[\s-]/g, ''));
    await signIn(exchange, person, entered.returnTo);
  } catch (error) {
    noteRefusedSignIn(exchange, error, () => findPersonByAddress(entered.email));
    await answerCodeForm(exchange, ...refused(error, entered));
  }
}

export const signOut: Handler = personsForm(async (exchange, { caller }) => {
  await endSession(caller, caller.credentialId);
  setSessionCookie(exchange, null);
  seeOther(exchange, '/sign-in');
});

/**
 * Opens a session for the person in this browser and redirects. @param proof The sign-in through a provider: the session reaches only the
 * provider's organization, unless the person has proved the email address in this browser before
 */
export async function signIn(
  exchange: Exchange,
  person: Person,
  returnTo: string,
  proof?: Omit<ProviderProof, 'isOnly'>,
): Promise<void> {
  // An existing session of this browser is replaced, never reused, which prevents session fixation.
  const former = await visitorOf(exchange);
  if (former) await endSession(former.caller, former.caller.credentialId);
  const { req, address } = exchange;
  const device = { userAgent: req.headers['user-agent'] ?? null, address };
  const isProved = former?.person.id === person.id && !former.caller.isOrgOnly;
  const { id, secret } = await openSession(person.id, device, proof && { ...proof, isOnly: !isProved }).catch(
    (error) => {
      noteRefusedSignIn(exchange, error, async () => person);
      throw error;
    },
  );
  exchange.credentialId = id;
  setSessionCookie(exchange, secret);
  rememberBrowser(exchange, person.email);
  seeOther(exchange, returnTo);
}

interface Entered {
  email: string;
  returnTo: string;
}

/** Records a refused sign-in in the audit log of the person's organizations: a failed one, or one beyond the rate limit. */
export function noteRefusedSignIn(exchange: Exchange, error: unknown, find: () => Promise<Person | undefined>): void {
  const { status, body } = toProblem(error);
  if ([401, 403, 429].includes(status)) exchange.findRefusal = () => refusalOfSignIn(find, body.description);
}

/** Shows the form again with the error. An error that the person cannot correct becomes an error page. */
function refused(error: unknown, entered: Entered): [status: number, entered: Entered, problem: Problem] {
  const problem = toProblem(error);
  if (problem.status >= 500) throw error;
  return [problem.status, entered, problem];
}

/** Divider above the other ways to sign in. Without an upstream provider it appears together with the passkey button. */
const divider = html`<p class="or"><span>or</span></p>`;

function answerEmailForm(
  exchange: Exchange,
  upstream: string | null,
  status: number,
  { email, returnTo }: Entered,
  problem?: Problem,
): Promise<void> {
  const body = html`<section class="card">
    <h1>Sign in</h1>
    <p class="muted">We email you a six-digit code and a link. If you are new here, they also create your account.</p>
    ${formError(problem?.body.description)}
    <form method="post" action="/sign-in">
      <input type="hidden" name="return_to" value="${returnTo}">
      <div class="field">
        <label for="email">Email</label>
        <input id="email" name="email" type="email" value="${email}" autocomplete="username webauthn" maxlength="320" required autofocus${problem && html` aria-describedby="form-error"`}>
      </div>
      <button class="full">Email me a code</button>
    </form>
    ${(upstream || ownCell() !== null) && divider}
    <div class="stacked">
    ${
      arePasskeysPossible() &&
      html`<div data-needs-passkeys hidden>
      ${!upstream && ownCell() === null && divider}
      ${passkeyForm('sign-in', '/sign-in/passkey', 'Sign in with a passkey', html`<input type="hidden" name="return_to" value="${returnTo}">`)}
    </div>`
    }
    ${upstream && html`<a class="button quiet full" href="${upstreamPaths.start}?return_to=${encodeURIComponent(returnTo)}">Continue with ${new URL(upstream).host}</a>`}
    ${otherCells().map((cell) => html`<a class="button quiet full" href="${cellSignInAddress(cell, returnTo)}">Continue with your session in ${cell}</a>`)}
    </div>
  </section>`;
  const page = { title: 'Sign in', body, script: passkeyPageScript() };
  return answerPage(exchange, status, page, { ...problem?.headers });
}

function answerCodeForm(
  exchange: Exchange,
  status: number,
  { email, returnTo }: Entered,
  problem?: Problem,
): Promise<void> {
  const hidden = html`<input type="hidden" name="email" value="${email}"><input type="hidden" name="return_to" value="${returnTo}">`;
  const body = html`<section class="card">
    <h1>Enter the code</h1>
    <p>We sent an email to <strong>${email}</strong>. Enter its code in this browser, or open its link in any browser. Both expire after ten minutes.</p>
    ${mailboxIsOpenTo(exchange) && html`<p class="note">No mail server is set up. The email is in the <a href="/development/mailbox" target="_blank" rel="noopener">development mailbox</a>, which opens with the link that the service printed when it started.</p>`}
    ${formError(problem?.body.description)}
    <form method="post" action="/sign-in/code">
      ${hidden}
      <div class="field">
        <label for="code">Six-digit code</label>
        <input class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required autofocus${problem && html` aria-describedby="form-error"`}>
      </div>
      <button class="full">Sign in</button>
    </form>
  </section>
  <form method="post" action="/sign-in" class="row small">
    ${hidden}
    <button class="link">Send a new code</button>
    <a href="/sign-in?return_to=${encodeURIComponent(returnTo)}">Use another email address</a>
  </form>`;
  return answerPage(exchange, status, { title: 'Enter the code', body }, { ...problem?.headers });
}
