// The form that creates a personal access token: name, expiry, project and scopes (specification, CreateTokenRequest).
import { z } from 'zod';
import { isOffered, presetScopes, type ScopePreset, scopePresets } from '#access/scopes.ts';
import type { Project } from '#domain/projects/model.ts';
import { listProjects } from '#domain/projects/operations.ts';
import type { NewToken } from '#domain/tokens/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import { invalid, type Problem } from '#foundation/problem.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { pages, text, tokens } from '#limits.ts';
import { csrfField, formError, type Visitor } from './layout.ts';
import { scopeBoxes } from './scope-boxes.ts';
import { fieldsOf } from './visitor.ts';

const { min, max, default: usual } = tokens.lifetimeDays;
const lifetimes = [7, 30, 90, 365];

const shape = z.object({
  name: nameText(text.tokenName),
  expires_in_days: z.coerce.number(`must be an integer ${min} to ${max}`).int().min(min).max(max),
  project_id: boundedText({ max: text.pathId.max }).optional(),
});

/** The token that the form describes. @throws 400 that names each invalid field */
export function newTokenOf(form: URLSearchParams): NewToken {
  const fields = new URLSearchParams(form);
  if (form.get('expires_in_days') === 'other') fields.set('expires_in_days', form.get('other_days') || 'none');
  const { name, expires_in_days, project_id } = fieldsOf(fields, shape);
  const scopes = form.getAll('scopes');
  // The API allows a token without scopes; a person who selected none most likely forgot to.
  if (scopes.length === 0) throw invalid('scopes: select at least one.');
  if (scopes.length > tokens.scopesPerToken) throw invalid(`scopes: must be at most ${tokens.scopesPerToken} entries.`);
  return { name, scopes, expiresInDays: expires_in_days, projectId: project_id || undefined };
}

export interface Refused {
  entered: URLSearchParams;
  problem: Problem;
}

interface Start {
  refused?: Refused | undefined;
  preset?: ScopePreset | undefined;
}

/** The form: empty, with the scopes of a preset, or as it was filled in, with the error. */
export async function tokenForm(visitor: Visitor, { refused, preset }: Start): Promise<Html> {
  const { data: projects, nextCursor } = await listProjects(visitor.caller, { limit: pages.projects.max });
  const entered = refused?.entered ?? new URLSearchParams();
  const offered = new Set([...visitor.caller.scopes].filter(isOffered));
  const ticked = preset ? presetScopes(preset, offered) : entered.getAll('scopes');
  return html`<form method="post" action="/console/tokens">${csrfField(visitor)}
    ${formError(refused?.problem.body.description)}
    <div class="field"><label for="name">Name</label>
      <p class="hint" id="name-hint">Where it is used, and for what.</p>
      <input id="name" name="name" value="${entered.get('name')}" maxlength="${text.tokenName.max}" autocomplete="off" required aria-describedby="name-hint"></div>
    ${expiryField(entered)}
    ${(projects.length > 0 || nextCursor) && projectField(projects, nextCursor !== null, entered.get('project_id'))}
    <fieldset data-most="${tokens.scopesPerToken}"><legend>Scopes</legend>
      <p class="hint">At most ${tokens.scopesPerToken}, and never more than your own role (${visitor.caller.role}) holds at the time of use.</p>
      <p class="actions">${scopePresets.map((name) => presetLink(name, offered))}</p>
      <p class="hint" role="status"></p>
      ${scopeBoxes(offered, new Set(ticked))}</fieldset>
    <button>Create token</button>
  </form>`;
}

const presetNames: Record<ScopePreset, string> = { read: 'Read only', missions: 'Run missions', all: 'Everything' };

/** Without scripts it reloads the page with these boxes ticked; other fields are then lost. */
const presetLink = (preset: ScopePreset, offered: ReadonlySet<string>): Html =>
  html`<a class="button quiet" href="/console/tokens?preset=${preset}#new" data-scopes="${presetScopes(preset, offered).join(' ')}">${presetNames[preset]}</a>`;

function expiryField(entered: URLSearchParams): Html {
  const chosen = entered.get('expires_in_days') ?? String(usual);
  const radio = (value: string, label: string) =>
    html`<label class="choice"><input type="radio" name="expires_in_days" value="${value}"${value === chosen && html` checked`}> <span>${label}</span></label>`;
  return html`<fieldset><legend>Expires in</legend>
      <div class="choices">${lifetimes.map((days) => radio(String(days), `${days} days`))}${radio('other', 'Other')}
        <span class="other"><input type="number" name="other_days" value="${entered.get('other_days')}" min="${min}" max="${max}" inputmode="numeric" aria-label="Number of days, ${min} to ${max}"> days</span></div>
    </fieldset>`;
}

const projectField = (projects: Row<Project>[], hasMore: boolean, chosen: string | null): Html =>
  html`<div class="field"><label for="project">Project</label>
      ${hasMore && html`<p class="hint">The newest ${projects.length} projects are listed.</p>`}
      <select id="project" name="project_id"><option value="">The whole organization</option>${projects.map(
        ({ id, name }) => html`<option value="${id}"${id === chosen && html` selected`}>Only ${name}</option>`,
      )}</select></div>`;
