// The part of a page where a person chooses what a program may do for them: in which organization, on which project, with which
// scopes, until when (specification, Authentication 6 and 8). Never more than their own role holds.
import { z } from 'zod';
import { type CatalogScope, catalog, scopesOfRole } from '#access/scopes.ts';
import { type OwnOrganization, organizationsOf } from '#domain/memberships/operations.ts';
import type { Project } from '#domain/projects/model.ts';
import { listProjects } from '#domain/projects/operations.ts';
import { type Html, html } from '#foundation/html.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text, tokens } from '#limits.ts';
import type { Visitor } from './layout.ts';

export interface AccessOffer {
  /** Where the access would be. */
  organization: OwnOrganization;
  organizations: OwnOrganization[];
  projects: Project[];
  hasMoreProjects: boolean;
  /** What was asked for and the person's role there holds. */
  scopes: CatalogScope[];
  /** What was asked for beyond that. */
  withheld: CatalogScope[];
}

/** In the wanted organization, else where the person works; null for somebody who belongs to none. */
export async function offerAccess(
  { caller, person }: Visitor,
  asked: readonly string[],
  wantedOrgId: string | null,
): Promise<AccessOffer | null> {
  const organizations = await organizationsOf(person.id);
  const byId = (id: string | null) => organizations.find((one) => one.id === id);
  const organization = byId(wantedOrgId) ?? byId(caller.orgId) ?? organizations[0];
  if (!organization) return null;
  const there = { ...caller, orgId: organization.id, role: organization.role };
  const { data: projects, nextCursor } = await listProjects(there, { limit: pages.projects.max });
  const held = scopesOfRole(organization.role);
  const entries = catalog.filter(({ scope }) => asked.includes(scope));
  return {
    organization,
    organizations,
    projects,
    hasMoreProjects: nextCursor !== null,
    scopes: entries.filter(({ scope }) => held.has(scope)),
    withheld: entries.filter(({ scope }) => !held.has(scope)),
  };
}

const { min, max, default: usual } = tokens.lifetimeDays;

const choice = z.object({
  org_id: boundedText(text.pathId),
  project_id: boundedText({ max: text.pathId.max }).optional(),
  expires_in_days: z.coerce.number(`must be an integer ${min} to ${max}`).int().min(min).max(max),
});

/** What the form of such a page brings back, beside its own fields. */
export const accessChoice = choice.shape;

/** The boxes that were ticked. */
export const chosenScopes = (form: URLSearchParams): string[] => form.getAll('scopes');

/** A form of its own, since other scopes and projects stand below after it; nothing when there is no choice. */
export const organizationPicker = (
  { organization, organizations }: AccessOffer,
  address: string,
  kept: Html,
): Html | false =>
  organizations.length > 1 &&
  html`<form method="get" action="${address}">${kept}
    <div class="field"><label for="organization">Organization</label>
      <select id="organization" name="org_id">${organizations.map(
        ({ id, name, role }) =>
          html`<option value="${id}"${id === organization.id && html` selected`}>${name} (${role})</option>`,
      )}</select></div>
    <button class="quiet">Choose this organization</button>
  </form>`;

export const accessFields = (offer: AccessOffer): Html => html`
  <input type="hidden" name="org_id" value="${offer.organization.id}">
  <fieldset><legend>It may</legend>${offer.scopes.map(
    ({ scope, description }) => html`<label class="check"><input type="checkbox" name="scopes" value="${scope}" checked>
      <span>${description} <code class="muted small">${scope}</code></span></label>`,
  )}
  ${
    offer.withheld.length > 0 &&
    html`<p class="hint">Your role here (${offer.organization.role}) can not give: ${offer.withheld.map(({ scope }) => scope).join(', ')}.</p>`
  }</fieldset>
  ${
    offer.projects.length > 0 &&
    html`<div class="field"><label for="project">Project</label>
      ${offer.hasMoreProjects && html`<p class="hint">The newest ${offer.projects.length} are shown.</p>`}
      <select id="project" name="project_id"><option value="">The whole organization</option>${offer.projects.map(
        ({ id, name }) => html`<option value="${id}">Only ${name}</option>`,
      )}</select></div>`
  }
  <div class="field"><label for="expiry">Ends after</label>
    <select id="expiry" name="expires_in_days">${[1, 7, 30, 90, 365].map(
      (days) =>
        html`<option value="${days}"${days === usual && html` selected`}>${days === 1 ? 'one day' : `${days} days`}</option>`,
    )}</select></div>`;
