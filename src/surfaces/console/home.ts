// The account: the person, their organizations and invites, and the forms that change them. Sign-in redirects to the inbox, or here
// for a person without an organization.
import { z } from 'zod';
import { wholePerson } from '#access/reach.ts';
import { type OfferedProvider, providerOfAddress } from '#domain/identity/identity-providers/operations.ts';
import { chooseOrganization } from '#domain/identity/sessions/operations.ts';
import {
  acceptDirectoryOffer,
  type DirectoryOffer,
  directoryOffersFor,
} from '#domain/organization/directory/offers.ts';
import { acceptInvite, type PendingInvite, pendingInvitesFor } from '#domain/organization/invites/operations.ts';
import { organizationsRefusing } from '#domain/organization/organizations/allowed-networks.ts';
import { createOrganization } from '#domain/organization/organizations/create.ts';
import { type OrganizationElsewhere, organizationsElsewhere } from '#domain/organization/organizations/elsewhere.ts';
import { updateOwnName } from '#domain/organization/people/operations.ts';
import { isoTime } from '#foundation/clock.ts';
import { organizationPath } from '#foundation/http/addresses.ts';
import { otherCells, ownCell } from '#foundation/http/cells.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { plainAddress } from '#foundation/http/network.ts';
import type { Id } from '#foundation/ids.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { cellSignInFrom } from './cell-sign-in.ts';
import { closurePath } from './closure.ts';
import { answerPage, csrfField, seeOther, type Visitor } from './layout.ts';
import { accountAddress } from './pages.ts';
import { passkeyPageScript } from './passkey-form.ts';
import { passkeyOffer } from './passkeys.ts';
import { requiredProviderCard } from './sso-choice.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

/**
 * Redirects a person to the inbox of their organization. A person without an organization is redirected to the account page, where they can
 * create or join an organization.
 */
export const showHome: Handler = personsPage(async (exchange, { organization }) =>
  seeOther(exchange, organization ? inboxOf(organization) : accountAddress),
);

const inboxOf = ({ slug }: { slug: string }): string => `${organizationPath(slug)}/inbox`;

export const showAccount: Handler = personsPage(async (exchange, visitor) => {
  const { organizations } = visitor;
  const { isOrgOnly } = visitor.caller;
  const refusing = await organizationsRefusing(visitor.caller.hiddenOrgIds ?? [], plainAddress(exchange.address));
  const [elsewhere, invites, offers, offer, required] = await Promise.all([
    isOrgOnly ? [] : organizationsElsewhere(visitor.person.email),
    isOrgOnly ? [] : pendingInvitesFor(visitor.person.email),
    isOrgOnly ? [] : directoryOffersFor(visitor.person),
    passkeyOffer(exchange, visitor),
    requiredProviderOf(visitor, refusing),
  ]);
  const isNew = organizations.length === 0;
  const body = html`<h1>${isNew ? `Welcome, ${visitor.person.name}` : visitor.person.name}</h1>
    ${invites.length > 0 && invitesCard(visitor, invites)}
    ${offers.length > 0 && offersCard(visitor, offers)}
    ${offer}
    ${!isNew && organizationsCard(visitor)}
    ${elsewhere.length > 0 && elsewhereCard(elsewhere)}
    ${refusing.length > 0 && refusedAddressCard(exchange, isNew)}
    ${required && requiredProviderCard(required)}
    ${isOrgOnly ? otherOrganizationsCard : creationCard(visitor, invites.length + offers.length > 0)}
    ${personCard(visitor)}`;
  return answerPage(exchange, 200, {
    title: 'Account',
    body,
    visitor,
    script: offer ? passkeyPageScript() : undefined,
  });
});

/** The provider that the person must use to reach one of their organizations. */
async function requiredProviderOf(
  { caller, person }: Visitor,
  refusing: readonly string[],
): Promise<OfferedProvider | null> {
  const hidden = caller.hiddenOrgIds?.filter((id) => !refusing.includes(id)) ?? [];
  if (caller.isOrgOnly || hidden.length === 0) return null;
  const provider = await providerOfAddress(person.email);
  return provider && hidden.includes(provider.orgId) ? provider : null;
}

const name = (bounds: { min: number; max: number }) => z.object({ name: nameText(bounds) });
const recordId = boundedText(text.pathId);

export const acceptOwnInvite: Handler = personsForm(async (exchange, { person, caller }, form) => {
  wholePerson(caller);
  const { invite_id } = fieldsOf(form, z.object({ invite_id: recordId }));
  await chooseOrganization(caller, await acceptInvite(person, invite_id));
  seeOther(exchange, '/console');
});

export const acceptOwnOffer: Handler = personsForm(async (exchange, { person, caller }, form) => {
  wholePerson(caller);
  const { org_id } = fieldsOf(form, z.object({ org_id: recordId }));
  await chooseOrganization(caller, await acceptDirectoryOffer(person, org_id as Id<'organization'>));
  seeOther(exchange, '/console');
});

export const createOwnOrganization: Handler = personsForm(async (exchange, { caller }, form) => {
  const wanted = fieldsOf(form, name(text.organizationName).extend({ cell: z.string().max(32).optional() }));
  const organization = await createOrganization(caller, wanted);
  if (organization.cell)
    return seeOther(exchange, cellSignInFrom(organization.cell, organizationPath(organization.slug)));
  await chooseOrganization(caller, organization.id);
  seeOther(exchange, '/console');
});

export const changeOwnName: Handler = personsForm(async (exchange, { caller }, form) => {
  await updateOwnName(caller, fieldsOf(form, name(text.personName)).name);
  seeOther(exchange, accountAddress);
});

const invitesCard = (visitor: Visitor, invites: PendingInvite[]): Html => html`<section class="card">
    <h2>You are invited</h2>
    <ul class="list">${invites.map(
      (invite) => html`<li class="row">
        <div><strong>${invite.organizationName}</strong> <span class="tag">${invite.role}</span>
          <div class="muted small">${invite.invitedByName && `From ${invite.invitedByName} · `}Expires <time datetime="${isoTime(invite.expiresAt)}">${isoTime(invite.expiresAt).slice(0, 10)}</time></div></div>
        <form method="post" action="/console/invites/accept">${csrfField(visitor)}
          <input type="hidden" name="invite_id" value="${invite.id}">
          <button aria-label="Join ${invite.organizationName}">Join</button></form>
      </li>`,
    )}</ul>
  </section>`;

const offersCard = (visitor: Visitor, offers: DirectoryOffer[]): Html => html`<section class="card">
    <h2>Your work account</h2>
    <ul class="list">${offers.map(
      ({ orgId, organizationName }) => html`<li class="row">
        <div><strong>${organizationName}</strong>
          <div class="muted small">The directory of this organization contains your email address.</div></div>
        <form method="post" action="/console/directory/accept">${csrfField(visitor)}
          <input type="hidden" name="org_id" value="${orgId}">
          <button aria-label="Join ${organizationName}">Join</button></form>
      </li>`,
    )}</ul>
  </section>`;

const organizationsCard = ({ organizations, organization: current }: Visitor): Html => html`<section class="card">
    <h2>Your organizations</h2>
    <ul class="list">${organizations.map(
      (organization) => html`<li class="row">
        <div><strong>${organization.name}</strong> <span class="tag">${organization.role}</span>${organization.closedAt !== null && html` <span class="tag">closed</span>`}
          <div class="muted small">${organization.slug}</div></div>
        ${html`<div class="actions">${organization.role === 'owner' && html`<a class="small" href="${organizationPath(organization.slug)}${closurePath}">${organization.closedAt ? 'See the closure of' : 'Close'} ${organization.name}</a>`}
          ${organization.id === current?.id && html`<span class="tag good">Current</span>`}
          <a class="button quiet" href="${inboxOf(organization)}" aria-label="Open ${organization.name}">Open</a></div>`}
      </li>`,
    )}</ul>
  </section>`;

/** The card about organizations that are not listed because they do not allow the network address of the request. */
const refusedAddressCard = (
  exchange: Exchange,
  isAll: boolean,
): Html => html`<section class="card"><h2>${isAll ? 'Your' : 'More'} organizations</h2>
    <p class="muted">You belong to organizations that do not allow requests from ${plainAddress(exchange.address) ?? 'an unknown address'}.
      Open this page from one of their networks to see them.</p></section>`;

/** Organizations in other cells, which the person reaches with this session. */
const elsewhereCard = (organizations: readonly OrganizationElsewhere[]): Html => html`<section class="card">
    <h2>In other cells</h2>
    <ul class="list">${organizations.map(
      ({ cell, name, slug }) => html`<li class="row">
        <div><strong>${name}</strong> <span class="tag">${cell}</span><div class="muted small">${slug}</div></div>
        <a class="button quiet" href="${cellSignInFrom(cell, organizationPath(slug))}" aria-label="Open ${name}">Open</a>
      </li>`,
    )}</ul>
  </section>`;

/** The card about the person's other organizations, for a session that was opened through an identity provider. */
const otherOrganizationsCard = html`<section class="card"><h2>Other organizations</h2>
    <p class="muted">You signed in through the provider of this organization, so you see no other one. To see your other
      organizations, invites and passkeys, sign out and sign in with an emailed code or a passkey.</p></section>`;

/** The choice of the cell that stores the data of a new organization; nothing on a platform with one cell. */
const cellField = () =>
  ownCell() !== null &&
  html`<div class="field"><label for="organization-cell">Where its data is stored</label>
        <select id="organization-cell" name="cell">${[ownCell()!, ...otherCells()].map(
          (cell) => html`<option value="${cell}">${cell}</option>`,
        )}</select>
        <div class="muted small">For a cell other than ${ownCell()!}, you sign in there with this session.</div></div>
      `;

function creationCard(visitor: Visitor, isInvited: boolean): Html {
  const form = html`<p class="muted">It owns your projects, credentials and credits. You can invite others to it later.</p>
    <form method="post" action="/console/organizations">${csrfField(visitor)}
      <div class="field"><label for="organization-name">Name</label>
        <input id="organization-name" name="name" maxlength="120" autocomplete="organization" required></div>
      ${cellField()}<button>Create organization</button>
    </form>`;
  return visitor.organizations.length > 0
    ? html`<section class="card"><details><summary>Create another organization</summary>${form}</details></section>`
    : html`<section class="card">
    <h2>${isInvited ? 'Or create an organization of your own' : 'Create your organization'}</h2>
    ${form}
  </section>`;
}

const personCard = (visitor: Visitor): Html => html`<section class="card">
    <h2>You</h2>
    <dl class="facts"><dt>Email</dt><dd>${visitor.person.email}</dd><dt>Name</dt><dd>${visitor.person.name}</dd></dl>
    ${
      !visitor.caller.isOrgOnly &&
      html`<details><summary>Change name</summary>
      <form method="post" action="/console/name">${csrfField(visitor)}
        <div class="field"><label for="name">Name</label>
          <input id="name" name="name" value="${visitor.person.name}" maxlength="120" autocomplete="name" required></div>
        <button>Save</button>
      </form></details>`
    }
  </section>`;
