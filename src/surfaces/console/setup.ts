// Setup progress on the overview until it is complete: the next step, and all steps with what can be skipped.
import { z } from 'zod';
import { admit } from '#access/gate.ts';
import type { MilestoneId } from '#domain/setup/milestones.ts';
import { marks } from '#domain/setup/model.ts';
import { type Group, type Milestone, markMilestone, readSetup } from '#domain/setup/operations.ts';
import { type Html, html } from '#foundation/html.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { csrfField, seeOther, type Visitor } from './layout.ts';
import { fieldsOf, personsForm } from './visitor.ts';

export const setupAddress = '/console/setup';

/** How to reach a milestone, and where. */
const steps: Record<MilestoneId, [hint: string, address: string, label: string]> = {
  workspace: ['A project connects a repository with a tracker and its missions.', '/console/projects', 'Open projects'],
  first_mission: ['Run a task of a project and follow it to its end.', '/console/projects', 'Open projects'],
  first_review: ['A mission in which a reviewer looks at the change reaches this step.', '/console/runs', 'Open runs'],
  first_merge: ['Review the change of a mission and merge it.', '/console/runs', 'Open runs'],
  preview_deployment: ['A mission opens one when it has a change to show.', '/console/runs', 'Open runs'],
  agent_instructions: [
    'Give an agent instructions of its own through the API.',
    '/reference',
    'Open the API reference',
  ],
  mcp_servers: ['Each project has a page for its MCP servers.', '/console/projects', 'Open projects'],
  custom_sandbox: ['Set the sandbox template of an agent through the API.', '/reference', 'Open the API reference'],
  teammate: ['Send an invite through the API: POST /v1/invites.', '/reference', 'Open the API reference'],
  steer_mission: ['Send a message to a mission while it runs.', '/console/runs', 'Open runs'],
  checkpoints: ['Continue a mission from an earlier state.', '/console/runs', 'Open runs'],
  scheduled_task: ['A scheduled task starts missions at the times that you set.', '/console/projects', 'Open projects'],
  agent_to_pr: ['A preview environment shows the pull request of a change.', '/console/runs', 'Open runs'],
};

/** Null when there is nothing to show: setup is complete, or the person may not read it. */
export async function setupCard(visitor: Visitor): Promise<Html | null> {
  if (!visitor.caller.scopes.has('setup:read')) return null;
  const { complete, next, groups, reachedCount, totalCount } = await readSetup(visitor.caller);
  if (complete || next === null) return null;
  const milestones = groups.flatMap((group) => group.milestones);
  const { name } = milestones.find(({ id }) => id === next)!;
  const [hint, address, label] = steps[next];
  const mayMark = visitor.caller.scopes.has('setup:write');
  return html`<section class="card" aria-label="Setup">
    <div class="row"><h2>Next step: ${name}</h2><span class="muted small">${reachedCount} of ${totalCount} done</span></div>
    <p class="muted">${hint}</p>
    <div class="actions"><a class="button" href="${address}">${label}</a>
      ${mayMark && markForm(visitor, { id: next, name }, 'skipped', 'Skip')}</div>
    <details class="more"><summary>All steps</summary>
      ${groups.map((group) => groupList(visitor, group, mayMark))}</details>
  </section>`;
}

const groupList = (visitor: Visitor, group: Group, mayMark: boolean): Html => html`<h3>${group.name}</h3>
  <ul class="list">${group.milestones.map(
    (milestone) => html`<li class="row"><div>${milestone.name}</div>
      ${milestone.state === 'done' && html`<span class="tag good">Done</span>`}
      ${milestone.state === 'skipped' && html`<span class="tag">Skipped</span>`}
      ${mayMark && milestone.state === 'open' && markForm(visitor, milestone, 'skipped', 'Skip')}
      ${mayMark && milestone.state === 'skipped' && markForm(visitor, milestone, 'reset', 'Bring back')}</li>`,
  )}</ul>`;

const markForm = (
  visitor: Visitor,
  { id, name }: Pick<Milestone, 'id' | 'name'>,
  mark: (typeof marks)[number],
  label: string,
): Html => html`<form method="post" action="${setupAddress}">${csrfField(visitor)}
  <input type="hidden" name="milestone_id" value="${id}"><input type="hidden" name="mark" value="${mark}">
  <button class="quiet">${label} <span class="unseen">${name}</span></button></form>`;

const fields = z.object({ milestone_id: boundedText(text.pathId), mark: z.enum(marks) });

export const markOwnMilestone = personsForm(async (exchange, { caller }, form) => {
  admit(caller, 'setup:write');
  const { milestone_id, mark } = fieldsOf(form, fields);
  await markMilestone(caller, milestone_id, mark);
  seeOther(exchange, '/console/overview');
});
