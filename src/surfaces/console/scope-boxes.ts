// The scope catalog as boxes to tick, group by group, each with its sentence; only what the person may give.
import { scopeGroups } from '#access/scopes.ts';
import { type Html, html } from '#foundation/html.ts';

type Actions = Record<string, readonly [description: string, requiredRole: string]>;

/** Boxes named `scopes`. What is not `offered` is not there, and a group without any is not either. */
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
