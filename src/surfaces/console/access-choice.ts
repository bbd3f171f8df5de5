// The part of a page where a person chooses what a program may do for them: in which organization, on which project, with which
// scopes, until when (specification, Authentication 6 and 8). Never more than their own role holds.
import { z } from 'zod';
import { scopesOfRole } from '#access/scopes.ts';
import { type OwnOrganization, organizationsOf } from '#domain/memberships/operations.ts';
import type { Project } from '#domain/projects/model.ts';
import { listProjects } from '#domain/projects/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, text, tokens } from '#limits.ts';
import type { Visitor } from './layout.ts';
import { scopeBoxes } from './scope-boxes.ts';

export interface AccessOffer {
  /** Where the access would be. */
  organization: OwnOrganization;
  organizations: OwnOrganization[];
  projects: Row<Project>[];
  hasMoreProjects: boolean;
  /** What was asked for and the person's role there holds. */
  scopes: ReadonlySet<string>;
  /** What was asked for beyond that. */
  withheld: string[];
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
  const held: ReadonlySet<string> = scopesOfRole(organization.role);
  const isHeld = (scope: string) => held.has(scope);
  return {
    organization,
    organizations,
    projects,
    hasMoreProjects: nextCursor !== null,
    scopes: new Set(asked.filter(isHeld)),
    withheld: asked.filter((scope) => !isHeld(scope)),
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

/** What the person had chosen, where the page is shown again. */
export interface Chosen {
  scopes: readonly string[];
  projectId: string;
  expiresInDays: string;
}

export const chosenAccess = (form: URLSearchParams): Chosen => ({
  scopes: chosenScopes(form),
  projectId: form.get('project_id') ?? '',
  expiresInDays: form.get('expires_in_days') ?? '',
});

export const accessFields = (offer: AccessOffer, chosen?: Chosen): Html => html`
  <input type="hidden" name="org_id" value="${offer.organization.id}">
  <fieldset><legend>It may</legend>${scopeBoxes(offer.scopes, chosen ? new Set(chosen.scopes) : offer.scopes)}
  ${
    offer.withheld.length > 0 &&
    html`<p class="hint">Your role here (${offer.organization.role}) can not give: ${offer.withheld.join(', ')}.</p>`
  }</fieldset>
  ${
    offer.projects.length > 0 &&
    html`<div class="field"><label for="project">Project</label>
      ${offer.hasMoreProjects && html`<p class="hint">The newest ${offer.projects.length} are shown.</p>`}
      <select id="project" name="project_id"><option value="">The whole organization</option>${offer.projects.map(
        ({ id, name }) =>
          html`<option value="${id}"${id === chosen?.projectId && html` selected`}>Only ${name}</option>`,
      )}</select></div>`
  }
  <div class="field"><label for="expiry">Ends after</label>
    <select id="expiry" name="expires_in_days">${[1, 7, 30, 90, 365].map(
      (days) =>
        html`<option value="${days}"${String(days) === (chosen?.expiresInDays ?? String(usual)) && html` selected`}>${days === 1 ? 'one day' : `${days} days`}</option>`,
    )}</select></div>`;
