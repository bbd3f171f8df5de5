// The pages of the built-in tracker's issues: the work of missions in projects without a tracker of their own.
import { admit } from '#access/gate.ts';
import type { Issue } from '#domain/issues/model.ts';
import { findIssue, listIssues } from '#domain/issues/operations.ts';
import { findProject } from '#domain/projects/operations.ts';
import type { Row } from '#foundation/base-model.ts';
import { type Html, html } from '#foundation/html.ts';
import type { Handler } from '#foundation/http.ts';
import { pages } from '#limits.ts';
import { answerPage, answerWithoutOrganization } from './layout.ts';
import { ago, day } from './time.ts';
import { personsPage } from './visitor.ts';

/** The address below which each issue has its page: what a run's `issueUrl` points to. */
export const issueBase = '/console/issues/';

export const showIssues: Handler = personsPage(async (exchange, visitor) => {
  if (!visitor.caller.orgId) return answerWithoutOrganization(exchange, visitor);
  admit(visitor.caller, 'missions:read');
  const cursor = new URLSearchParams(exchange.search).get('cursor');
  const { data, nextCursor } = await listIssues(visitor.caller, { limit: pages.other.default, cursor });
  const more = nextCursor && `/console/issues?cursor=${encodeURIComponent(nextCursor)}`;
  const body = html`<h1>Issues</h1>
    <p class="lead">The work of missions in the built-in tracker, newest first.</p>
    <section class="card">
      ${data.length === 0 && html`<p>No issues yet. Each mission creates an issue when it starts. <a href="/console/projects">Choose a project to start one</a></p>`}
      <ul class="list">${data.map(oneIssue)}</ul>
      ${more && html`<p><a href="${more}">Older issues</a></p>`}
    </section>`;
  return answerPage(exchange, 200, { title: 'Issues', body, visitor });
});

export const showIssue: Handler = personsPage(async (exchange, visitor) => {
  admit(visitor.caller, 'missions:read');
  const issue = await findIssue(visitor.caller, exchange.path.slice(issueBase.length));
  const project = await findProject(visitor.caller, issue.projectId);
  const { key, title, createdAt, labels } = issue;
  const body = html`<p><a href="/console/issues">Issues</a></p>
    <h1>${title}</h1>
    <section class="card">
      <dl class="facts">
        <dt>Key</dt><dd>${key} ${state(issue)}</dd>
        <dt>Project</dt><dd>${project.name}</dd>
        <dt>Created</dt><dd>${day(createdAt)}</dd>
        ${labels.length > 0 && html`<dt>Labels</dt><dd>${labels.map((label) => html`<span class="tag">${label}</span> `)}</dd>`}
      </dl>
      <pre>${issue.body}</pre>
    </section>`;
  return answerPage(exchange, 200, { title: `${key} ${title}`, body, visitor });
});

const state = ({ state }: Row<Issue>): Html =>
  html`<span class="${state === 'open' ? 'tag good' : 'tag'}">${state}</span>`;

const oneIssue = (issue: Row<Issue>): Html => html`<li class="row">
    <div><a href="${issueBase + issue.id}">${issue.title}</a>
      <div class="muted small">${issue.key} · Created ${ago(issue.createdAt)}</div></div>
    ${state(issue)}
  </li>`;
