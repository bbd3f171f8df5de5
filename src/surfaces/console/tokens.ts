// A person's access tokens: the list, creating one, whose secret is shown once, and revoking one (specification, Credentials and
// identity 1 to 4).
import { z } from 'zod';
import { type ScopePreset, scopePresets } from '#access/scopes.ts';
import type { Token } from '#domain/tokens/model.ts';
import { type CreatedToken, createToken, listTokens, revokeToken } from '#domain/tokens/operations.ts';
import { baseUrl } from '#foundation/addresses.ts';
import type { Row } from '#foundation/base-model.ts';
import { now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { toProblem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { presentOrganization, projectNames, reach, revokeControl } from './credential-list.ts';
import { answerPage, answerWithoutOrganization, type Visitor } from './layout.ts';
import { ago, day } from './time.ts';
import { newTokenOf, type Refused, tokenForm } from './token-form.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const showTokens: Handler = personsPage((exchange, visitor) => {
  const preset = new URLSearchParams(exchange.search).get('preset');
  return answerTokens(exchange, visitor, { preset: scopePresets.find((name) => name === preset) });
});

export const createOwnToken: Handler = personsForm(async (exchange, visitor, form) => {
  let created: CreatedToken;
  try {
    created = await createToken(visitor.caller, newTokenOf(form));
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) throw error;
    return answerTokens(exchange, visitor, { refused: { entered: form, problem } });
  }
  await answerSecret(exchange, visitor, created);
});

export const revokeOwnToken: Handler = personsForm(async (exchange, visitor, form) => {
  const { token_id } = fieldsOf(form, z.object({ token_id: boundedText(text.pathId) }));
  const { kind } = await revokeToken(visitor.caller, token_id);
  const said = kind === 'revoked' ? 'Token revoked. It stopped working at once.' : 'This token was already revoked.';
  await answerTokens(exchange, visitor, { said });
});

/** The only answer that holds the secret. Not a redirect: then it would have to be kept until the next page. */
function answerSecret(exchange: Exchange, visitor: Visitor, created: CreatedToken): Promise<void> {
  const body = html`<h1>Your new token</h1>
  <section class="card">
    <p class="note good" role="status">Created <strong>${created.name}</strong>. It expires on ${day(created.expiresAt)}.</p>
    <p>Copy this token now. You won’t see it again.</p>
    <div class="secret"><code id="token">${created.token}</code>
      <button type="button" data-copies="token" data-status="copied" hidden>Copy</button></div>
    <p class="muted small" id="copied" role="status"></p>
    <h2>Try it</h2>
    <pre>curl -H "Authorization: Bearer $TOKEN" ${baseUrl()}/me</pre>
    <p><a class="button quiet" href="/console/tokens">Done</a></p>
  </section>`;
  return answerPage(exchange, 200, { title: 'Your new token', body, visitor });
}

interface Outcome {
  /** What a form has just done. */
  said?: string;
  refused?: Refused;
  /** The scopes to start from. */
  preset?: ScopePreset | undefined;
}

async function answerTokens(
  exchange: Exchange,
  visitor: Visitor,
  { said, refused, preset }: Outcome = {},
): Promise<void> {
  const title = 'Personal access tokens';
  const organization = await presentOrganization(visitor);
  const { status = 200, headers } = refused?.problem ?? {};
  if (!organization) return answerWithoutOrganization(exchange, visitor, status);
  const tokens = await listTokens(visitor.caller);
  const isActive = ({ revokedAt, expiresAt }: Row<Token>) => revokedAt === null && expiresAt > now();
  const active = tokens.filter(isActive);
  const ended = tokens.filter((token) => !isActive(token));
  const [names, form] = await Promise.all([
    projectNames(visitor.caller, active),
    tokenForm(visitor, { refused, preset }),
  ]);
  const body = html`<h1>${title}</h1>
    <p class="lead">A token lets a program act as you in <strong>${organization.name}</strong>, within the scopes you select. <a href="/console/account">Change organization</a></p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    <section class="card"><h2>Your tokens</h2>
      ${active.length > 0 ? html`<ul class="list">${active.map((token) => activeToken(token, visitor, names))}</ul>` : html`<p class="muted">No tokens yet. A token lets a script or CI job call the API as you. Create one below.</p>`}
      ${
        ended.length > 0 &&
        html`<details class="more"><summary>Expired and revoked (${ended.length})</summary><ul class="list">${ended.map(endedToken)}</ul></details>`
      }
    </section>
    <section class="card" id="new"><h2>New token</h2>${form}</section>`;
  return answerPage(exchange, status, { title, visitor, body }, { ...headers });
}

const activeToken = (token: Row<Token>, visitor: Visitor, names: ReadonlyMap<string, string>): Html =>
  html`<li>
      <div class="row"><div><strong>${token.name}</strong>
        <div class="muted small">${token.lastUsedAt ? html`Last used ${ago(token.lastUsedAt)}` : 'Never used'} · Created ${day(token.createdAt)} · Expires ${day(token.expiresAt)}</div></div>
        ${revokeControl(visitor, {
          name: token.name,
          action: '/console/tokens/revoke',
          field: 'token_id',
          id: token.id,
          warning: 'Programs that use it stop working at once.',
        })}</div>
      ${reach(token, visitor, names)}
    </li>`;

const endedToken = ({ name, createdAt, expiresAt, revokedAt }: Row<Token>): Html =>
  html`<li>${name} <span class="muted small">· Created ${day(createdAt)} · ${revokedAt ? html`Revoked ${ago(revokedAt)}` : html`Expired ${day(expiresAt)}`}</span></li>`;
