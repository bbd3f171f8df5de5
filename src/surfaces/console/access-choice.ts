// The fields in which a person selects the access of an agent or client: organization, project, scopes, expiry
// (docs/contract.md#claim-page). All of them are sent with the approval, so that exactly the displayed selection is approved, within the
// person's role in the selected organization.
import { z } from 'zod';
import { presetScopes, scopesOfRole } from '#access/scopes.ts';
import type { OwnOrganization } from '#domain/organization/organizations/operations.ts';
import type { Project } from '#domain/projects/projects/model.ts';
import { listProjects } from '#domain/projects/projects/operations.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { notFound, Problem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { pages, previewSizes, text, tokens } from '#limits.ts';
import { csrfField, type Visitor } from './layout.ts';
import { scopeBoxes } from './scope-boxes.ts';
import { fieldsOf } from './visitor.ts';

interface Place {
  organization: OwnOrganization;
  /** The newest projects of the organization, from which the person may choose one. */
  projects: Project[];
  hasMoreProjects: boolean;
}

interface AccessOffer {
  /** Organizations to choose from, beginning with the person's current one. */
  places: readonly [Place, ...Place[]];
  /** The requested scopes that the person's role includes in any of the organizations. */
  scopes: ReadonlySet<string>;
  /** The requested scopes that the person's role includes in no organization. */
  withheld: string[];
  /** Whether the person's role lacks at least one of `scopes` in at least one of the organizations. */
  isUneven: boolean;
}

/** Returns the choices of access that a person can grant to an agent or client; null for a person without an organization. */
async function offerAccess(
  { caller, organizations: all }: Visitor,
  requested: readonly string[],
): Promise<AccessOffer | null> {
  const isCurrent = ({ id }: OwnOrganization) => id === caller.orgId;
  const organizations = [...all.filter(isCurrent), ...all.filter((one) => !isCurrent(one))];
  // Projects are listed only for the first organizations, because each of them requires a query.
  const places = await Promise.all(
    organizations.map((organization, i) => placeOf(caller, organization, i < previewSizes.perParent)),
  );
  const [first, ...others] = places;
  if (!first) return null;
  const heldThere = organizations.map(({ role }) =>
    requested.filter((scope) => scopesOfRole(role).has(scope as never)),
  );
  const scopes = new Set(heldThere.flat());
  return {
    places: [first, ...others],
    scopes,
    withheld: requested.filter((scope) => !scopes.has(scope)),
    isUneven: heldThere.some((held) => held.length < scopes.size),
  };
}

async function placeOf(
  caller: Visitor['caller'],
  organization: OwnOrganization,
  withProjects: boolean,
): Promise<Place> {
  if (!withProjects) return { organization, projects: [], hasMoreProjects: true };
  const there = { ...caller, orgId: organization.id, role: organization.role };
  const { data: projects, nextCursor } = await listProjects(there, { limit: pages.projects.max });
  return { organization, projects, hasMoreProjects: nextCursor !== null };
}

const { min, max, default: defaultDays } = tokens.lifetimeDays;

const choice = z.object({
  org_id: boundedText(text.pathId),
  project_id: boundedText({ max: text.pathId.max }).optional(),
  expires_in_days: z.coerce.number(`must be an integer ${min} to ${max}`).int().min(min).max(max),
});

/** The access that an approved form selects. @throws 400, and 404 for an organization that the session does not reach */
export function selectedAccess({ caller, organizations }: Visitor, form: URLSearchParams) {
  const { org_id: orgId, project_id, expires_in_days: expiresInDays } = fieldsOf(form, choice);
  if (!organizations.some(({ id }) => id === orgId)) throw notFound('organization');
  const scopes = form.getAll('scopes');
  return { orgId, projectId: project_id || null, isOrgOnly: caller.isOrgOnly, scopes, expiresInDays };
}

/** The submitted selection, for showing the form again. */
export interface Chosen {
  orgId: string;
  scopes: readonly string[];
  projectId: string;
  expiresInDays: string;
}

export const chosenAccess = (form: URLSearchParams): Chosen => ({
  orgId: form.get('org_id') ?? '',
  scopes: form.getAll('scopes'),
  projectId: form.get('project_id') ?? '',
  expiresInDays: form.get('expires_in_days') ?? '',
});

/** Whether the person can correct this error in the form, which is then shown again. */
export const isFormError = (error: unknown): error is Problem =>
  error instanceof Problem && [400, 401, 404].includes(error.status);

/** Preselected scopes, at most the number that one credential may have. */
const suggested = (scopes: ReadonlySet<string>): string[] =>
  scopes.size > tokens.scopesPerToken ? presetScopes('all', scopes) : [...scopes];

interface AccessForm {
  action: string;
  /** Hidden fields that identify the request. */
  hidden: Html;
  fields(offer: AccessOffer): Html;
}

/** The form that allows or denies the requested scopes. A person without an organization can only deny them. */
export async function accessForm(
  visitor: Visitor,
  requested: readonly string[],
  { action, hidden, fields }: AccessForm,
): Promise<Html> {
  const offer = await offerAccess(visitor, requested);
  // Denying needs no other field, so the form is not validated.
  const deny = html`<button class="quiet" name="decision" value="deny" formnovalidate>Deny</button>`;
  if (!offer) {
    return html`<p class="note">You belong to no organization yet. <a href="/console/account">Create one</a>, then reload this page.</p>
    <form method="post" action="${action}">${csrfField(visitor)}${hidden}${deny}</form>`;
  }
  return html`<form method="post" action="${action}">${csrfField(visitor)}${hidden}
      ${fields(offer)}
      <div class="actions"><button name="decision" value="approve">Allow</button>${deny}</div>
    </form>`;
}

/** The form fields for a choice of access. @param ticked Selects which of the preselected scopes are ticked */
export function accessFields(
  offer: AccessOffer,
  chosen?: Chosen,
  ticked: (scope: string) => boolean = () => true,
): Html {
  const { places, scopes, withheld, isUneven } = offer;
  const boxes = chosen ? chosen.scopes : suggested(scopes).filter(ticked);
  return html`
  ${organizationField(places, chosen?.orgId)}
  ${projectField(places, chosen?.projectId)}
  <fieldset><legend>Scopes</legend>
  ${isUneven && html`<p class="hint">The access never exceeds your role in the organization you choose.</p>`}
  ${scopeBoxes(scopes, new Set(boxes))}
  ${withheld.length > 0 && html`<p class="hint">Your role cannot grant: ${withheld.join(', ')}.</p>`}</fieldset>
  <div class="field"><label for="expiry">Expires in</label>
    <select id="expiry" name="expires_in_days">${[1, 7, 30, 90, 365].map(
      (days) =>
        html`<option value="${days}"${String(days) === (chosen?.expiresInDays ?? String(defaultDays)) && html` selected`}>${days === 1 ? '1 day' : `${days} days`}</option>`,
    )}</select></div>`;
}

function organizationField([{ organization }, ...others]: AccessOffer['places'], chosen: string | undefined): Html {
  if (others.length === 0) {
    return html`<input type="hidden" name="org_id" value="${organization.id}">
  <p>Access to <strong>${organization.name}</strong>, as you (${organization.role}):</p>`;
  }
  return html`<div class="field"><label for="organization">Organization</label>
      <select id="organization" name="org_id">${[organization, ...others.map((place) => place.organization)].map(
        ({ id, name, role }) =>
          html`<option value="${id}"${id === chosen && html` selected`}>${name} (${role})</option>`,
      )}</select></div>`;
}

/** The field for the project. It lists projects of all organizations, so that a change of the organization needs no reload. */
function projectField(places: AccessOffer['places'], chosen: string | undefined): Html | false {
  const options = (projects: Project[]) =>
    projects.map(
      ({ id, name }) => html`<option value="${id}"${id === chosen && html` selected`}>Only ${name}</option>`,
    );
  const listed = places.filter(({ projects }) => projects.length > 0);
  if (listed.length === 0) return false;
  return html`<div class="field"><label for="project">Project</label>
      ${places.some(({ hasMoreProjects }) => hasMoreProjects) && html`<p class="hint">Only the newest projects are listed.</p>`}
      <select id="project" name="project_id"><option value="">The whole organization</option>${
        places.length === 1
          ? options(listed[0]!.projects)
          : listed.map(
              ({ organization, projects }) =>
                html`<optgroup label="${organization.name}">${options(projects)}</optgroup>`,
            )
      }</select></div>`;
}
