// The MCP servers of a project: what its repository declares beside what is bound, who may use which tools, and what runs called.
// Every form is sent to the page itself; its button says what to do.
import { z } from 'zod';
import { admit } from '#access/gate.ts';
import { agentRoles } from '#domain/agents/model.ts';
import { startOAuth } from '#domain/mcp-servers/authorization.ts';
import { serverNamePattern } from '#domain/mcp-servers/declared.ts';
import { statusOf } from '#domain/mcp-servers/model.ts';
import { deleteBinding, putBinding, secretLength, secretPattern } from '#domain/mcp-servers/operations.ts';
import { recentCalls } from '#domain/mcp-servers/review.ts';
import { refreshTools } from '#domain/mcp-servers/tools.ts';
import { viewProject } from '#domain/mcp-servers/view.ts';
import { findProject } from '#domain/projects/operations.ts';
import { html } from '#foundation/html.ts';
import type { Exchange } from '#foundation/http.ts';
import { toProblem } from '#foundation/problem.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { answerPage, formError, type Visitor } from './layout.ts';
import { callsOfDay, configFile, noServers, oneServer, words } from './project-mcp-view.ts';
import { approvalsOf } from './tool-review.ts';
import { fieldsOf, personsForm, personsPage } from './visitor.ts';

export const projectMcpPattern = /^\/console\/projects\/([\w-]{1,200})\/mcp$/;
const projectIn = (path: string): string => projectMcpPattern.exec(path)![1]!;
export const projectMcpAddress = (projectId: string): string => `/console/projects/${projectId}/mcp`;

export const showProjectMcp = personsPage((exchange, visitor) => {
  admit(visitor.caller, 'mcp:read');
  return answerServers(exchange, visitor);
});

const sent = z.object({
  server: boundedText(text.mcpServerName).regex(serverNamePattern),
  do: z.enum(['bind', 'refresh', 'approve', 'connect', 'remove']),
});

export const changeProjectMcp = personsForm(async (exchange, visitor, form) => {
  const { caller } = visitor;
  admit(caller, 'mcp:write');
  const projectId = projectIn(exchange.path);
  const { server, do: action } = fieldsOf(form, sent);
  try {
    if (action === 'connect') return await answerConnect(exchange, visitor, server);
    await answerServers(exchange, visitor, { said: await act[action](visitor, projectId, server, form) });
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500 && problem.status !== 502) throw error;
    await answerServers(exchange, visitor, { refused: { server, problem } });
  }
});

type Act = (visitor: Visitor, projectId: string, server: string, form: URLSearchParams) => Promise<string>;

const act: Record<'bind' | 'refresh' | 'approve' | 'remove', Act> = {
  async bind({ caller }, projectId, server, form) {
    const roles = agentRoles.filter((role) => form.getAll('roles').includes(role));
    // An empty field keeps what is stored: values are never shown again.
    const given = [...form].filter(([name, value]) => name.startsWith('secret:') && value !== '');
    const credentials = Object.fromEntries(
      given.map(([name, value]) => [name.slice('secret:'.length), checked(value)]),
    );
    const enabled = form.get('disabled') !== 'yes';
    await putBinding(caller, projectId, server, { roles, enabled, ...(given.length > 0 && { credentials }) });
    return `Saved. ${server} is bound for ${roles.join(', ') || 'no role'}.`;
  },
  async refresh({ caller }, projectId, server) {
    const { status, statusDetail } = statusOf(await refreshTools(caller, projectId, server));
    return `Read the tools of ${server}. Status: ${words[status]}${statusDetail ? `. ${statusDetail}` : '.'}`;
  },
  async approve({ caller }, projectId, server, form) {
    const { roles, approvedTools, seen } = await approvalsOf(caller, projectId, server, form);
    await putBinding(caller, projectId, server, { roles, approvedTools, seen });
    return `Approved ${approvedTools.length} ${approvedTools.length === 1 ? 'tool' : 'tools'} of ${server}.`;
  },
  async remove({ caller }, projectId, server) {
    await deleteBinding(caller, projectId, server);
    return `Removed the binding of ${server}, with its credentials.`;
  },
};

const value = boundedText(secretLength).regex(secretPattern, 'must be one line of printable ASCII characters');
const credential = z.object({ credential: value });
const checked = (value: string): string => fieldsOf(new URLSearchParams({ credential: value }), credential).credential;

/** A link and not a redirect: a form may lead to our own pages only, and the person sees where they are sent. */
async function answerConnect(exchange: Exchange, visitor: Visitor, server: string): Promise<void> {
  const projectId = projectIn(exchange.path);
  const address = projectMcpAddress(projectId);
  const { authorizeUrl } = await startOAuth(visitor.caller, projectId, server, address);
  const { host } = new URL(authorizeUrl);
  const title = `Connect ${server}`;
  const body = html`<h1>${title}</h1>
    <section class="card">
      <p>You are about to sign in at <strong>${host}</strong>, the authorization server of ${server}. What it grants is stored
        encrypted and used for this project’s missions only.</p>
      <div class="actions"><a class="button" href="${authorizeUrl}">Continue to ${host}</a>
        <a class="button quiet" href="${address}">Cancel</a></div>
      <p class="muted small">The link works for ten minutes.</p>
    </section>`;
  return answerPage(exchange, 200, { title, body, visitor });
}

interface Outcome {
  said?: string;
  refused?: { server: string; problem: ReturnType<typeof toProblem> };
}

async function answerServers(exchange: Exchange, visitor: Visitor, outcome: Outcome = {}): Promise<void> {
  const { caller } = visitor;
  const projectId = projectIn(exchange.path);
  const project = await findProject(caller, projectId);
  const [view, recent] = await Promise.all([viewProject(caller, projectId), recentCalls(projectId)]);
  const { said, refused } = outcome;
  const servers = await Promise.all(view.servers.map((server) => oneServer(visitor, server)));
  const body = html`<p class="above"><a href="/console/projects/${projectId}">${project.name}</a></p>
    <h1>MCP servers</h1>
    <p class="lead">Tools that missions of <strong>${project.name}</strong> may use: declared in the repository, bound and approved here.</p>
    ${said && html`<p class="note good" role="status">${said}</p>`}
    ${refused && formError(`${refused.server}: ${refused.problem.body.description}`)}
    ${configFile(view)}
    ${servers}
    ${view.servers.length === 0 && noServers(view)}
    ${callsOfDay(recent)}`;
  return answerPage(exchange, refused?.problem.status ?? 200, {
    title: `MCP servers of ${project.name}`,
    body,
    visitor,
  });
}
