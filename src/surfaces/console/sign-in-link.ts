// The page of a sign-in link. Opening the page only shows a button: programs that scan mails and chats open links, and must not use up this
// one.
import { z } from 'zod';
import { findSignInLink, useSignInLink } from '#domain/organization/people/sign-in-links.ts';
import { html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { plainText } from '#graph/validation.ts';
import { browserSecret } from './browser.ts';
import { answerPage } from './layout.ts';
import { signIn } from './sign-in.ts';
import { ago } from './time.ts';
import { fieldsOf, readOwnForm } from './visitor.ts';

export async function showLink(exchange: Exchange): Promise<void> {
  const token = new URLSearchParams(exchange.search).get('token') ?? '';
  const { email, createdAt } = await findSignInLink(token);
  const body = html`<section class="card">
    <h1>Sign in</h1>
    <p>This link was requested ${ago(createdAt)}. It signs you in once, in this browser.</p>
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value="${token}">
      <button class="full" autofocus>Sign in as ${masked(email)}</button>
    </form>
    <p class="more muted small">If you did not request it, or this is not your email address, close this page.</p>
  </section>`;
  return answerPage(exchange, 200, { title: 'Sign in', body });
}

export async function enterLink(exchange: Exchange): Promise<void> {
  const { token } = fieldsOf(await readOwnForm(exchange), z.object({ token: plainText() }));
  const { person, returnTo } = await useSignInLink(token, browserSecret(exchange));
  await signIn(exchange, person, returnTo ?? '/console');
}

/** A masked email address, such as `a•••@example.com`: recognizable for its owner, but of little use to other people who find the link. */
const masked = (email: string): string => email.replace(/^(.).*(@[^@]*)$/, '$1•••$2');
