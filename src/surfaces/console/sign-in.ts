// The way in: a mail address, then the code that was mailed to it; or a link from the operator. And the way out.
import { z } from 'zod';
import { mailAddress } from '#domain/people/mail-address.ts';
import type { Person } from '#domain/people/model.ts';
import { endSession, openSession } from '#domain/people/session.ts';
import { sendSignInCode, useSignInCode, useSignInLink } from '#domain/people/sign-in.ts';
import { html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { type Problem, toProblem } from '#foundation/problem.ts';
import { createThrottle } from '#foundation/throttle.ts';
import { plainText } from '#graph/validation.ts';
import { rates } from '#limits.ts';
import { setSessionCookie } from '../cookie.ts';
import { answerPage, formError, seeOther } from './layout.ts';
import { mailboxIsOpenTo } from './mailbox.ts';
import { fieldsOf, ownPath, personsForm, readOwnForm, visitorOf } from './visitor.ts';

const addressForm = z.object({ email: mailAddress });
const codeForm = addressForm.extend({ code: plainText() });

/** With an `upstream` issuer there is a second way in (upstream.ts). */
export function createSignIn(upstream: string | null): { showSignIn: Handler; sendCode: Handler } {
  const throttle = createThrottle(
    'sign-in',
    rates.signInCodesPerHourAndClient,
    3_600,
    'Too many codes were asked from here.',
  );
  return {
    async showSignIn(exchange) {
      const returnTo = ownPath(new URLSearchParams(exchange.search).get('return_to'));
      if (await visitorOf(exchange)) return seeOther(exchange, returnTo);
      return answerAddressForm(exchange, upstream, 200, { email: '', returnTo });
    },

    /** The same answer whether or not the address has an account: the first sign-in makes one. */
    async sendCode(exchange) {
      const form = await readOwnForm(exchange);
      const entered = { email: form.get('email') ?? '', returnTo: ownPath(form.get('return_to')) };
      try {
        const { email } = fieldsOf(form, addressForm);
        await throttle.take(exchange.address);
        await sendSignInCode(email);
        await answerCodeForm(exchange, 200, { ...entered, email });
      } catch (error) {
        await answerAddressForm(exchange, upstream, ...refused(error, entered));
      }
    },
  };
}

export async function enterCode(exchange: Exchange): Promise<void> {
  const form = await readOwnForm(exchange);
  const entered = { email: form.get('email') ?? '', returnTo: ownPath(form.get('return_to')) };
  try {
    const { email, code } = fieldsOf(form, codeForm);
    const person = await useSignInCode(email, code.replace(/[\s-]/g, ''));
    await signIn(exchange, person, entered.returnTo);
  } catch (error) {
    await answerCodeForm(exchange, ...refused(error, entered));
  }
}

/** Only shows a button: programs that look into mails and chats open links, and must not use this one up. */
export function showLink(exchange: Exchange): Promise<void> {
  const token = new URLSearchParams(exchange.search).get('token') ?? '';
  const body = html`<section class="card">
    <h1>Sign in</h1>
    <p>This link signs you in once, on this device.</p>
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value="${token}">
      <button class="full" autofocus>Sign in</button>
    </form>
  </section>`;
  return answerPage(exchange, 200, { title: 'Sign in', body });
}

export async function enterLink(exchange: Exchange): Promise<void> {
  const { token } = fieldsOf(await readOwnForm(exchange), z.object({ token: plainText() }));
  await signIn(exchange, await useSignInLink(token), '/console');
}

export const signOut: Handler = personsForm(async (exchange, { caller }) => {
  await endSession(caller, caller.credentialId);
  setSessionCookie(exchange, null);
  seeOther(exchange, '/sign-in');
});

/** Opens a session for the person behind this browser and goes on. */
export async function signIn(exchange: Exchange, person: Person, returnTo: string): Promise<void> {
  // A session that this browser still has is replaced, never taken over: nobody can plant one beforehand.
  const former = await visitorOf(exchange);
  if (former) await endSession(former.caller, former.caller.credentialId);
  const { req, address } = exchange;
  const { id, secret } = await openSession(person.id, { userAgent: req.headers['user-agent'] ?? null, address });
  exchange.credentialId = id;
  setSessionCookie(exchange, secret);
  seeOther(exchange, returnTo);
}

interface Entered {
  email: string;
  returnTo: string;
}

/** The form again, with what was wrong. What is not the person's to mend becomes an error page. */
function refused(error: unknown, entered: Entered): [status: number, entered: Entered, problem: Problem] {
  const problem = toProblem(error);
  if (problem.status >= 500) throw error;
  return [problem.status, entered, problem];
}

function answerAddressForm(
  exchange: Exchange,
  upstream: string | null,
  status: number,
  { email, returnTo }: Entered,
  problem?: Problem,
): Promise<void> {
  const body = html`<section class="card">
    <h1>Sign in</h1>
    <p class="muted">We mail you a six-digit code. If you are new here, it also opens your account.</p>
    ${formError(problem?.body.description)}
    <form method="post" action="/sign-in">
      <input type="hidden" name="return_to" value="${returnTo}">
      <div class="field">
        <label for="email">Mail address</label>
        <input id="email" name="email" type="email" value="${email}" autocomplete="email" maxlength="320" required autofocus${problem && html` aria-describedby="form-error"`}>
      </div>
      <button class="full">Send me a code</button>
    </form>
    ${
      upstream &&
      html`<p class="or"><span>or</span></p>
    <a class="button quiet full" href="/sign-in/upstream?return_to=${encodeURIComponent(returnTo)}">Continue with ${new URL(upstream).host}</a>`
    }
  </section>`;
  return answerPage(exchange, status, { title: 'Sign in', body }, { ...problem?.headers });
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
    <p>A mail to <strong>${email}</strong> is on its way. The code in it is good for ten minutes.</p>
    ${mailboxIsOpenTo(exchange) && html`<p class="note">No mail server is set up. The mail is in the <a href="/development/mailbox" target="_blank" rel="noopener">development mailbox</a> and in the log.</p>`}
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
    <a href="/sign-in?return_to=${encodeURIComponent(returnTo)}">Use another address</a>
  </form>`;
  return answerPage(exchange, status, { title: 'Enter the code', body }, { ...problem?.headers });
}
