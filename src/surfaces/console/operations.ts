// The page of the installation for the people who run it (OPERATOR_EMAILS). For everybody else it does not exist, owners of organizations
// included.
import { type InstallationStatus, readStatus } from '#domain/lifecycle/installation/status.ts';
import { isOperator } from '#domain/organization/people/operators.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Handler } from '#foundation/http/http.ts';
import { notFound } from '#foundation/problem.ts';
import { answerPage } from './layout.ts';
import { databaseCards } from './operations-database.ts';
import { workCards } from './operations-work.ts';
import { operationsAddress } from './pages.ts';
import { instantOf } from './time.ts';
import { personsPage } from './visitor.ts';

const refreshSeconds = 10;

export const showOperations: Handler = personsPage(async (exchange, visitor) => {
  if (!isOperator(visitor.person, visitor.caller)) throw notFound('page');
  const status = await readStatus();
  const isLive = new URLSearchParams(exchange.search).has('live');
  const body = html`<div class="row"><h1>Operations</h1>
    <p class="muted small">Read ${instantOf(status.at)}. ${
      isLive
        ? html`Reloads every ${refreshSeconds} s. <a href="${operationsAddress}">Stop</a>`
        : html`<a href="${operationsAddress}">Reload</a> or <a href="?live">reload every ${refreshSeconds} s</a>`
    }</p></div>
    ${findingsOf(status)}
    ${summaryOf(status)}
    <div class="operations">${workCards(status)}${databaseCards(status)}</div>`;
  return answerPage(
    exchange,
    200,
    { title: 'Operations', body, visitor },
    isLive ? { refresh: String(refreshSeconds) } : {},
  );
});

const findingsOf = ({ findings, unread }: InstallationStatus): Html => {
  const missing = Object.keys(unread);
  return html`${
    findings.length > 0
      ? html`<section class="note error findings" aria-labelledby="findings"><h2 id="findings">Needs attention</h2>
      <ul>${findings.map((finding) => html`<li>${finding}</li>`)}</ul></section>`
      : html`<p class="note good" role="status">Nothing needs attention.</p>`
  }${missing.length > 0 && html`<p class="note">Not read within a second: ${missing.join(', ')}.</p>`}`;
};

/** The figures that an operator looks at first. */
function summaryOf({ queues, waitingRuns, runtimes, clients }: InstallationStatus): Html {
  const sum = (numbers: readonly number[] | undefined) => numbers?.reduce((all, one) => all + one, 0);
  const processes = clients?.filter(({ version }) => version !== null);
  const figures: [string, number | undefined][] = [
    ['Jobs due', sum(queues?.map(({ due }) => due))],
    ['Jobs running', sum(queues?.map(({ running }) => running))],
    ['Jobs failed', sum(queues?.map(({ failed }) => failed))],
    ['Missions waiting', sum(waitingRuns?.map(({ runs }) => runs))],
    ['Runtimes connected', runtimes?.filter(({ isConnected }) => isConnected).length],
    ['Service processes', processes?.length],
    ['Versions', processes && new Set(processes.map(({ version }) => version)).size],
  ];
  return html`<dl class="summary">${figures.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? '-'}</dd></div>`,
  )}</dl>`;
}
