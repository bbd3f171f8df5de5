// The scope catalog as checkboxes by group, each with its description; only scopes that the person may grant.
import { scopeGroups } from '#access/scopes.ts';
import { type Html, html } from '#foundation/http/html.ts';

type Actions = Record<string, readonly [description: string, requiredRole: string]>;

/** Checkboxes named `scopes`, only for the `offered` scopes; empty groups are omitted. */
export const scopeBoxes = (offered: ReadonlySet<string>, ticked: ReadonlySet<string>): Html =>
  html`<div class="groups">${Object.entries(scopeGroups).map(([key, group]) => {
    const boxes = Object.entries<Actions[string]>(group.actions)
      .map(([action, [description]]) => ({ scope: `${key}:${action}`, description }))
      .filter(({ scope }) => offered.has(scope));
    return (
      boxes.length > 0 &&
      html`<fieldset class="group"><legend>${group.name}</legend>${boxes.map(
        ({ scope, description }) =>
          html`<label class="check"><input type="checkbox" name="scopes" value="${scope}"${ticked.has(scope) && html` checked`}>
        <span>${description} <code class="muted small">${scope}</code></span></label>`,
      )}</fieldset>`
    );
  })}</div>`;
