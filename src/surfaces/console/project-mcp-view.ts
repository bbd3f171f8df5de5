// What the page of a project's MCP servers shows: each server as it is declared and as it is bound, with its forms, and the calls.
import { admits } from '#access/gate.ts';
import { agentRoles } from '#domain/agents/model.ts';
import type { Declared } from '#domain/mcp-servers/declared.ts';
import { type McpBinding, statusOf, toolsFor } from '#domain/mcp-servers/model.ts';
import { type RecentCalls, reviewTools } from '#domain/mcp-servers/review.ts';
import type { McpServer, ProjectMcpView } from '#domain/mcp-servers/view.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import { csrfField, type Visitor } from './layout.ts';
import { ago } from './time.ts';
import { toolReview } from './tool-review.ts';

export const configFile = ({ configPath, configRef, configStatus, configError, warnings }: ProjectMcpView): Html =>
  html`<section class="card"><h2>Config file</h2>
    <p><code>${configPath}</code> ${configRef && html`at <code>${configRef}</code>`}
      <span class="${configStatus === 'ok' ? 'tag good' : 'tag'}">${configStatus}</span></p>
    ${configError && html`<p class="note error">${configError}</p>`}
    ${warnings.length > 0 && html`<ul>${warnings.map((one) => html`<li>${one}</li>`)}</ul>`}
  </section>`;

export const noServers = ({ configPath }: ProjectMcpView): Html => html`<section class="card"><h2>No servers yet</h2>
    <p>An MCP server gives missions tools, such as your tracker or your documentation. Declare one in <code>${configPath}</code> of the repository:</p>
    <pre>mcpServers:
  docs:
    url: https://mcp.example.com/mcp</pre></section>`;

export const words: Record<ReturnType<typeof statusOf>['status'], string> = {
  ready: 'ready',
  needs_auth: 'needs authorization',
  needs_review: 'needs review',
  error: 'error',
  disabled: 'disabled',
};

export async function oneServer(visitor: Visitor, { name, declared, binding }: McpServer): Promise<Html> {
  const mayWrite = admits(visitor.caller, 'mcp:write');
  const status = binding && statusOf(binding);
  const isRefused = declared?.isolation.kind === 'refused';
  return html`<section class="card" aria-labelledby="server-${name}">
    <div class="row"><h2 id="server-${name}">${name}</h2>
      <span><span class="tag">${declared ? 'declared' : 'not declared'}</span>
      <span class="${status?.status === 'ready' ? 'tag good' : 'tag'}">${status ? words[status.status] : 'not bound'}</span></span></div>
    ${status?.statusDetail && html`<p class="note">${status.statusDetail}</p>`}
    ${isRefused && html`<p class="note error">This server may not run: ${declared.isolation.reason}.</p>`}
    <div class="groups">
      <div><h3>Declared</h3>${declared ? declaration(declared) : html`<p class="muted">Not in the config file, or no longer.</p>`}</div>
      <div><h3>Bound</h3>${binding ? boundFacts(binding) : html`<p class="muted">Not bound: no mission can use it.</p>`}</div>
    </div>
    ${mayWrite && binding && actions(visitor, binding)}
    ${binding && toolReview(visitor, binding, await reviewTools(binding), mayWrite)}
    ${mayWrite && !isRefused && bindForm(visitor, name, declared, binding)}
  </section>`;
}

const list = (names: readonly string[]): Html | string =>
  names.length > 0 ? html`<code>${names.join(', ')}</code>` : 'none';

const declaration = (declared: Declared): Html => html`<dl class="facts">
    <dt>Runs</dt><dd>${declared.isolation.kind === 'remote' ? 'elsewhere (remote)' : declared.isolation.kind === 'sandbox' ? 'in sandboxes; no runtime starts such servers yet' : 'refused'}</dd>
    ${declared.origin && html`<dt>Address</dt><dd><code>${declared.origin}${declared.path}</code></dd>`}
    ${declared.command && html`<dt>Command</dt><dd><code>${[declared.command, ...declared.displayArgs].join(' ')}</code></dd>`}
    <dt>Headers</dt><dd>${list(declared.headerNames)}</dd>
    <dt>Secrets</dt><dd>${list(declared.secretRefs)}</dd>
  </dl>`;

const boundFacts = (binding: Row<McpBinding>): Html => html`<dl class="facts">
    ${binding.pinnedUrl && html`<dt>Address</dt><dd><code>${binding.pinnedUrl}</code></dd>`}
    ${binding.packageSpec && html`<dt>Package</dt><dd><code>${binding.packageSpec}</code></dd>`}
    <dt>Roles</dt><dd>${binding.roles.length > 0 ? binding.roles.map((role) => html`${role} (${toolsFor(binding, role).length}) `) : 'none'}</dd>
    <dt>Credentials</dt><dd>${binding.authKind === 'oauth' ? 'OAuth' : list(binding.credentialFields)}</dd>
    <dt>Tools read</dt><dd>${binding.toolsRefreshedAt ? ago(binding.toolsRefreshedAt) : 'never'}</dd>
  </dl>`;

const hidden = (visitor: Visitor, server: string): Html =>
  html`${csrfField(visitor)}<input type="hidden" name="server" value="${server}">`;

/** One button for each thing that can be done with the server as a whole. */
function actions(visitor: Visitor, { serverName, transport, authKind, enabled }: Row<McpBinding>): Html {
  const named = (verb: string) => html`${verb} <span class="unseen">${serverName}</span>`;
  const button = (action: string, verb: string) => html`<form method="post">${hidden(visitor, serverName)}
      <button class="quiet" name="do" value="${action}">${named(verb)}</button></form>`;
  return html`<div class="actions">
    ${transport === 'remote' && enabled && button('refresh', 'Read tools')}
    ${transport === 'remote' && enabled && button('connect', authKind === 'oauth' ? 'Connect again' : 'Connect with OAuth')}
    <details class="confirm"><summary><span class="closed">${named('Remove')}</span><span class="opened">Cancel</span></summary>
      <form method="post">${hidden(visitor, serverName)}
        <p class="small">Missions lose its tools at once, and its credentials are deleted. This cannot be undone.</p>
        <button class="danger sure" name="do" value="remove">Remove <span class="unseen">${serverName}</span> now</button></form></details>
  </div>`;
}

function bindForm(visitor: Visitor, name: string, declared: Declared | null, binding: Row<McpBinding> | null): Html {
  const roles = binding?.roles ?? ['builder'];
  const secrets = declared?.secretRefs ?? binding?.secretRefs ?? [];
  const form = html`<form method="post" autocomplete="off">${hidden(visitor, name)}
      <fieldset><legend>Roles that may use it</legend><div class="choices">
        ${agentRoles.map((role) => html`<label class="choice"><input type="checkbox" name="roles" value="${role}"${(roles as readonly string[]).includes(role) && html` checked`}>${role}</label>`)}
      </div></fieldset>
      ${secrets.map(
        (one) => html`<div class="field"><label for="secret-${name}-${one}">${one}</label>
        ${binding?.credentialFields.includes(one) && html`<p class="hint" id="hint-${name}-${one}">Stored. Leave it empty to keep it.</p>`}
        <input type="password" id="secret-${name}-${one}" name="secret:${one}" autocomplete="off"></div>`,
      )}
      ${binding && html`<label class="check"><input type="checkbox" name="disabled" value="yes"${!binding.enabled && html` checked`}>Disabled: no mission can use it</label>`}
      <button name="do" value="bind">${binding ? 'Save binding' : 'Bind'} <span class="unseen">${name}</span></button></form>`;
  return binding
    ? html`<details class="more"><summary>Change roles and credentials <span class="unseen">of ${name}</span></summary>${form}</details>`
    : html`<div class="more">${form}</div>`;
}

const outcomes: Record<RecentCalls['counts'][number]['outcome'], string> = {
  ok: 'succeeded',
  tool_error: 'ended with an error of the tool',
  refused: 'refused',
  failed: 'failed',
};

export function callsOfDay({ calls, counts }: RecentCalls): Html {
  return html`<section class="card"><h2 id="calls">Calls of the last day</h2>
    ${calls.length === 0 && html`<p class="muted">No mission has called a tool in the last 24 hours.</p>`}
    ${counts.length > 0 && html`<ul>${counts.map(({ serverName, outcome, count }) => html`<li>${serverName}: ${count} ${outcomes[outcome]}</li>`)}</ul>`}
    ${
      calls.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-labelledby="calls"><table><thead><tr><th scope="col">Tool</th><th scope="col">Outcome</th><th scope="col">Duration</th><th scope="col">When</th><th scope="col">Run</th></tr></thead>
      <tbody>${calls.map(
        (
          call,
        ) => html`<tr><td>${call.serverName} · <code>${call.tool}</code></td><td>${call.outcome}</td><td>${call.durationMs} ms</td>
        <td>${ago(call.createdAt)}</td><td><a href="/console/runs/${call.runId}">Run <span class="unseen">${call.runId}</span></a></td></tr>`,
      )}</tbody></table></div>`
    }
  </section>`;
}
