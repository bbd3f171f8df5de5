// Two pages and a card. The first page offers the identity provider of an email address before a code is sent. The second page asks the
// person to confirm a sign-in that another site has started. The card names an organization that requires its own provider.
import { type OfferedProvider, pathOf } from '#domain/identity/identity-providers/operations.ts';
import type { FoundProvider } from '#domain/identity/identity-providers/sign-in.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange } from '#foundation/http/http.ts';
import { answerPage } from './layout.ts';

const startAddress = (id: string, returnTo: string): string =>
  `${pathOf(id)}?return_to=${encodeURIComponent(returnTo)}`;

export function answerProviderChoice(
  exchange: Exchange,
  { id, name, organizationName, required }: OfferedProvider,
  { email, returnTo }: { email: string; returnTo: string },
): Promise<void> {
  const hidden = html`<input type="hidden" name="email" value="${email}"><input type="hidden" name="return_to" value="${returnTo}">`;
  const body = html`<section class="card">
    <h1>Sign in</h1>
    <p>${organizationName} signs in <strong>${email}</strong> with its own provider.</p>
    <a class="button full" href="${startAddress(id, returnTo)}">Continue with <bdi>${name}</bdi></a>
    <p class="or"><span>or</span></p>
    <form method="post" action="/sign-in">${hidden}<input type="hidden" name="way" value="code">
      <button class="quiet full">Email me a code</button></form>
    ${required && html`<p class="hint more">${organizationName} requires its provider. With a code you reach only your other organizations.</p>`}
  </section>
  <p class="small"><a href="/sign-in?return_to=${encodeURIComponent(returnTo)}">Use another email address</a></p>`;
  return answerPage(exchange, 200, { title: 'Sign in', body });
}

/**
 * Answers with a page that asks the person to confirm a sign-in. @param address The URL that starts the sign-in. It contains the proof that
 * this page was shown in the same browser
 */
export function answerStartPage(
  exchange: Exchange,
  { name, organizationName }: FoundProvider,
  address: string,
): Promise<void> {
  const body = html`<section class="card">
    <h1>Sign in to <bdi>${organizationName}</bdi></h1>
    <p class="muted">You continue at the identity provider of this organization. Continue only if you belong to the organization.</p>
    <a class="button full" href="${address}">Continue with <bdi>${name}</bdi> of <bdi>${organizationName}</bdi></a>
  </section>
  <p class="small"><a href="/sign-in">Sign in another way</a></p>`;
  return answerPage(exchange, 200, { title: 'Sign in', body });
}

/** A card for an organization that the session does not reach, because the organization requires its own provider. */
export const requiredProviderCard = ({
  id,
  name,
  organizationName,
}: OfferedProvider): Html => html`<section class="card">
    <h2>${organizationName}</h2>
    <p class="muted">This organization requires a sign-in through its provider.</p>
    <a class="button" href="${startAddress(id, '/console')}">Continue with <bdi>${name}</bdi></a>
  </section>`;
