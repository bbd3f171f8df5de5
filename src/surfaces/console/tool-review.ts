// The tools of a bound server as a person reviews them: what is new, what has changed since it was approved, and for whom each is
// approved. All words of a server are shown as text.
import { diffLines } from 'diff';
import type { Caller } from '#access/principal.ts';
import { type ApprovedTool, McpBinding, type ToolDefinition } from '#domain/mcp-servers/model.ts';
import { type ReviewedTool, snapshotDigest } from '#domain/mcp-servers/review.ts';
import { findOwnProject } from '#domain/mcp-servers/view.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import { csrfField, type Visitor } from './layout.ts';

/** Of a definition that is shown; and how far two may differ to be shown line by line. */
const mostCharacters = 8_000;
const mostEdits = 500;

const changes: Record<ReviewedTool['change'], Html | null> = {
  new: html`<span class="tag">new</span>`,
  changed: html`<span class="tag">changed</span>`,
  removed: html`<span class="tag">removed</span>`,
  none: null,
};

export function toolReview(
  visitor: Visitor,
  binding: Row<McpBinding>,
  tools: readonly ReviewedTool[],
  mayWrite: boolean,
): Html | null {
  if (tools.length === 0) return null;
  const { serverName, toolSnapshot } = binding;
  const news = tools.filter(({ change }) => change !== 'none').length;
  const approved = new Map(binding.approvedTools.map((tool) => [tool.name, tool]));
  const at = new Map(toolSnapshot.map(({ name }, index) => [name, index]));
  const rows = tools.map((tool) => {
    const index = at.get(tool.name);
    const choice = index === undefined || !mayWrite ? null : choices(serverName, tool, index, approved);
    return oneTool(tool, choice);
  });
  return html`<h3>Tools</h3>
    <p class="muted small">${tools.length} in all; ${news === 0 ? 'nothing is new since you approved' : `${news} new, changed or removed`}. A builder gets every approved tool; the other roles get those that change nothing.</p>
    ${
      mayWrite
        ? html`<form method="post">${csrfField(visitor)}<input type="hidden" name="server" value="${serverName}">
      <input type="hidden" name="seen" value="${snapshotDigest(toolSnapshot)}">
      <ul class="list">${rows}</ul>
      <p><button name="do" value="approve">Approve tools <span class="unseen">of ${serverName}</span></button></p></form>`
        : html`<ul class="list">${rows}</ul>`
    }`;
}

const options = [
  ['none', 'Nobody'],
  ['builder', 'Builders'],
  ['all', 'All roles: it changes nothing'],
] as const;

/** A tool that has changed is chosen again: nobody approves it by leaving the form as it is. */
function choices(
  server: string,
  { name: tool, change }: ReviewedTool,
  index: number,
  approved: ReadonlyMap<string, ApprovedTool>,
): Html {
  const own = change === 'changed' ? undefined : approved.get(tool);
  const present = !own ? 'none' : own.attestedReadOnly ? 'all' : 'builder';
  return html`<fieldset><legend class="unseen">Who may use ${tool} of ${server}</legend><div class="choices">
    ${options.map(([value, name]) => html`<label class="choice"><input type="radio" name="tool-${index}" value="${value}"${value === present && html` checked`}>${name}</label>`)}
  </div></fieldset>`;
}

function oneTool({ name, change, present, reviewed }: ReviewedTool, choice: Html | null): Html {
  return html`<li><p><strong><code>${name}</code></strong> ${changes[change]} ${(present ?? reviewed) && claims((present ?? reviewed)!)}</p>
    ${change === 'none' || change === 'new' ? html`<p>${present!.description}</p>` : difference(reviewed, present)}
    ${present && html`<details><summary>Definition <span class="unseen">of ${name}</span></summary><pre>${shownText(written(present))}</pre></details>`}
    ${choice}</li>`;
}

/** What the server says of the tool, which is no more than its word. */
function claims({ annotations = {} }: ToolDefinition): Html | null {
  const said = [
    annotations.readOnlyHint === true && 'reads only',
    annotations.destructiveHint === true && 'destroys data',
    annotations.openWorldHint === true && 'reaches outside',
  ].filter((one) => one !== false);
  return said.length > 0 ? html`<span class="muted small">The server says: ${said.join(', ')}</span>` : null;
}

/** Words, schemas and hints, a line for each member. */
const written = (tool: ToolDefinition): string => `${JSON.stringify(tool, null, 2)}\n`;

const shownText = (all: string): string =>
  all.length > mostCharacters ? `${all.slice(0, mostCharacters)}\n… (${all.length} characters)` : all;

/** Lines that were removed and added; both texts where they differ too much. */
function difference(reviewed: ToolDefinition | null, present: ToolDefinition | null): Html {
  if (!reviewed) return html`<p class="muted">What was approved is not known: it was before definitions were kept.</p>`;
  if (!present) return html`<p class="muted">The server no longer has it.</p>`;
  const [before, after] = [shownText(written(reviewed)), shownText(written(present))];
  const parts = diffLines(before, after, { maxEditLength: mostEdits });
  if (!parts) return html`<pre><del>${before}</del><ins>${after}</ins></pre>`;
  return html`<pre class="diff">${parts.map(({ added, removed, value }) => {
    if (added) return html`<ins>${marked('+ ', value)}</ins>`;
    return removed ? html`<del>${marked('- ', value)}</del>` : contextOf(value);
  })}</pre>`;
}

const marked = (mark: string, value: string): string => value.replace(/^(?=.)/gm, mark);

/** Of unchanged lines the two beside a change. */
function contextOf(value: string): string {
  const lines = value.split('\n').slice(0, -1);
  const kept = lines.length > 5 ? [...lines.slice(0, 2), '…', ...lines.slice(-2)] : lines;
  return kept.map((line) => `  ${line}\n`).join('');
}

/** The choices of the form, for the tools that were on the page. */
export async function approvalsOf(caller: Caller, projectId: string, serverName: string, form: URLSearchParams) {
  await findOwnProject(caller, projectId);
  const { toolSnapshot, roles } = await McpBinding.get({ projectId, serverName });
  const approvedTools = toolSnapshot.flatMap(({ name }, index): ApprovedTool[] => {
    const choice = form.get(`tool-${index}`);
    return choice === 'builder' || choice === 'all' ? [{ name, attestedReadOnly: choice === 'all' }] : [];
  });
  return { roles, approvedTools, seen: form.get('seen') ?? '' };
}
