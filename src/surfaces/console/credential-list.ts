// Shared by the lists of tokens and of connected agents: their organization, their access, and the control that revokes one.
import type { Caller } from '#access/principal.ts';
import { type OwnOrganization, organizationsOf } from '#domain/organizations/operations.ts';
import { findProject } from '#domain/projects/operations.ts';
import { type Html, html } from '#foundation/html.ts';
import { Problem } from '#foundation/problem.ts';
import { csrfField, type Visitor } from './layout.ts';

/** The person's current organization; undefined for a person without one. */
export const presentOrganization = async ({ caller, person }: Visitor): Promise<OwnOrganization | undefined> =>
  (await organizationsOf(person.id)).find(({ id }) => id === caller.orgId);

/** The names of the projects that these are bound to; a project that was just deleted has none. */
export async function projectNames(
  caller: Caller,
  bound: readonly { projectId: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(bound.flatMap(({ projectId }) => projectId ?? []))];
  const named = ids.map(async (id) => [id, await nameOf(caller, id)] as const);
  return new Map(await Promise.all(named));
}

async function nameOf(caller: Caller, projectId: string): Promise<string> {
  try {
    return (await findProject(caller, projectId)).name;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return projectId;
    throw error;
  }
}

export interface Bound {
  projectId: string | null;
  scopes: readonly string[];
}

/** Where and what: the project it is bound to, its scopes, and those that the person's role has lost. */
export function reach({ projectId, scopes }: Bound, { caller }: Visitor, names: ReadonlyMap<string, string>): Html {
  const held: ReadonlySet<string> = caller.scopes;
  const lost = scopes.filter((scope) => !held.has(scope));
  return html`<ul class="scopes" aria-label="Access">
      <li class="tag">${projectId ? html`Only ${names.get(projectId) ?? projectId}` : 'Whole organization'}</li>
      ${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}</ul>
    ${lost.length > 0 && html`<p class="hint">Your role no longer holds ${lost.join(', ')}, so that part has no effect.</p>`}`;
}

export interface Revocation {
  /** Its name, for screen readers. */
  name: string;
  action: string;
  field: string;
  id: string;
  /** What will happen. */
  warning: string;
}

/** Two steps, without script: the first opens, the second does it. */
export const revokeControl = (visitor: Visitor, { name, action, field, id, warning }: Revocation): Html =>
  html`<details class="confirm">
      <summary><span class="closed">Revoke <span class="unseen">${name}</span></span><span class="opened">Cancel</span></summary>
      <form method="post" action="${action}">${csrfField(visitor)}<input type="hidden" name="${field}" value="${id}">
        <p class="small">${warning} This cannot be undone.</p>
        <button class="danger sure">Revoke <span class="unseen">${name}</span> now</button></form></details>`;
