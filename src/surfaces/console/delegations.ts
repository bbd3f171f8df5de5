// What a person has lent to agents and clients, and taking it back (specification, AgentDelegationList and
// RevokeAgentDelegationResult; Authentication 10).
import { z } from 'zod';
import { type Delegation, listDelegations, revokeDelegation } from '#domain/delegations/operations.ts';
import { type Resource, resourceOf } from '#domain/oauth/resources.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Exchange, Handler } from '#foundation/http.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { presentOrganization, projectNames, reach, revokeControl } from './credential-list.ts';
import { answerPage, answerWithoutOrganization, type Visitor } from './layout.ts';
import { ago, day } from './time.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const showDelegations: Handler = personsPage((exchange, visitor) => answerAgents(exchange, visitor));

export const revokeOwnDelegation: Handler = personsForm(async (exchange, visitor, form) => {
  const { delegation_id } = fieldsOf(form, z.object({ delegation_id: boundedText(text.pathId) }));
  const { kind, revokedTokens } = await revokeDelegation(visitor.caller, delegation_id);
  await answerAgents(exchange, visitor, kind === 'revoked' ? revokedWords(revokedTokens) : 'It was already revoked.');
});

const revokedWords = (count: number): string =>
  `Its access is revoked. ${['No live token was left', 'One live token stopped working'][count] ?? `${count} live tokens stopped working`}.`;

async function answerAgents(exchange: Exchange, visitor: Visitor, said?: string): Promise<void> {
  const title = 'Connected agents';
  const organization = await presentOrganization(visitor);
  if (!organization) return answerWithoutOrganization(exchange, visitor);
  const delegations = await listDelegations(visitor.caller);
  const active = delegations.filter(({ status }) => status === 'active');
  const ended = delegations.filter(({ status }) => status !== 'active');
  const names = await projectNames(visitor.caller, active);
  const body = html`<h1>${title}</h1>
    <p class="lead">Agents and clients with access to <strong>${organization.name}</strong>. They act as you, within the scopes you granted. <a href="/console/account">Change organization</a></p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    <section class="card"><h2>Active</h2>
      ${
        active.length > 0
          ? html`<ul class="list">${active.map((delegation) => activeDelegation(delegation, visitor, names))}</ul>`
          : html`<p class="muted">No agent has access yet. An agent or MCP client appears here after you approve its request.</p>`
      }
      ${
        ended.length > 0 &&
        html`<details class="more"><summary>Expired and revoked (${ended.length})</summary><ul class="list">${ended.map(endedDelegation)}</ul></details>`
      }
    </section>`;
  return answerPage(exchange, 200, { title, visitor, body });
}

const activeDelegation = (delegation: Delegation, visitor: Visitor, names: ReadonlyMap<string, string>): Html =>
  html`<li>
      <div class="row"><div><strong><bdi>${nameOf(delegation)}</bdi></strong> <span class="tag">${originOf(delegation)}</span>
        <div class="muted small">${delegation.lastUsedAt ? html`Last used ${ago(delegation.lastUsedAt)}` : 'Never used'} · Granted ${day(delegation.createdAt)} · Expires ${day(delegation.expiresAt)} · For ${placeOf(delegation)}</div></div>
        ${revokeControl(visitor, {
          name: nameOf(delegation),
          action: '/console/connected-agents/revoke',
          field: 'delegation_id',
          id: delegation.id,
          warning: 'Every token that it holds stops working at once.',
        })}</div>
      ${reach(delegation, visitor, names)}
    </li>`;

const endedDelegation = (delegation: Delegation): Html =>
  html`<li><bdi>${nameOf(delegation)}</bdi> <span class="muted small">· ${originOf(delegation)} · Granted ${day(delegation.createdAt)} · ${delegation.status === 'revoked' ? 'Revoked' : html`Expired ${day(delegation.expiresAt)}`}</span></li>`;

const nameOf = ({ agentName, clientName }: Delegation): string => agentName ?? clientName ?? 'Unnamed';

/** Who vouches for it: a name is its own word. */
function originOf({ registrationType, provider }: Delegation): string {
  if (provider) return `Vouched for by ${new URL(provider).host}`;
  return registrationType === 'authorization_code' ? 'Client that you signed in to' : 'Agent that you claimed';
}

const places: Record<Resource, string> = { api: 'the API', mcp: 'the MCP server', a2a: 'the agent-to-agent endpoint' };

/** An agent takes tokens for the API and for MCP, one by one, from the same grant. */
const placeOf = ({ registrationType, resource }: Delegation): string =>
  registrationType === 'authorization_code' ? places[resourceOf(resource)] : `${places.api} and ${places.mcp}`;
