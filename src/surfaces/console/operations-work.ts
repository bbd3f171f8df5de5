// Cards about the work in the installation: its jobs and deliveries, its waiting missions, and its runtimes.
import { durationOf } from '#domain/lifecycle/installation/findings.ts';
import type { InstallationStatus } from '#domain/lifecycle/installation/status.ts';
import { now } from '#foundation/clock.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { age, count, tableCard } from './operations-cards.ts';

type Queue = NonNullable<InstallationStatus['queues']>[number];
const isBusy = ({ waiting, running, failed }: Queue): boolean => waiting + running + failed > 0;

export const workCards = (status: InstallationStatus): Html =>
  html`${jobsCard(status)}${waitingCard(status)}${runtimesCard(status)}`;

function jobsCard({ queues, failedJobs }: InstallationStatus): Html {
  const idle = queues?.filter((queue) => !isBusy(queue)).map(({ queue }) => queue) ?? [];
  const failed =
    failedJobs &&
    failedJobs.length > 0 &&
    html`<h3>Newest failed jobs</h3>
    <ul class="small">${failedJobs.map(
      ({ queue, id, tries, failedSecondsAgo }) =>
        html`<li>${queue}, ${age(failedSecondsAgo)} ago, after ${tries} tries: <code>${id}</code></li>`,
    )}</ul>
    <p class="muted small">The log contains the error of each job under its id.</p>`;
  return tableCard({
    title: 'Jobs and deliveries',
    rows: queues?.filter(isBusy) ?? null,
    columns: [
      ['Queue', ({ queue }) => queue],
      ['Due', ({ due }) => count(due), true],
      ['Later', ({ waiting, due }) => count(waiting - due), true],
      ['Running', ({ running }) => count(running), true],
      ['Failed', ({ failed }) => count(failed), true],
      ['Oldest due', ({ oldestDueSeconds }) => age(oldestDueSeconds), true],
    ],
    empty: 'No job is waiting.',
    below: html`${idle.length > 0 && html`<p class="muted small">Empty: ${idle.join(', ')}.</p>`}${failed}`,
  });
}

function waitingCard({ waitingRuns, waitingEvents }: InstallationStatus): Html {
  const events =
    waitingEvents &&
    waitingEvents.since !== null &&
    html`<p class="muted small">Waiting events of hooks: ${waitingEvents.forPlace} for capacity or credits,
    ${waitingEvents.forTime} for a retry; the oldest has waited ${durationOf(now() - waitingEvents.since)}.</p>`;
  return tableCard({
    title: 'Waiting missions',
    rows: waitingRuns,
    columns: [
      [
        'Waits for',
        ({ waitsFor, reason }) => html`${waitsFor}${reason && html`<div class="muted small">${reason}</div>`}`,
      ],
      ['Missions', ({ runs }) => count(runs), true],
      ['Organizations', ({ organizations }) => count(organizations), true],
      ['Oldest', ({ since }) => durationOf(now() - since), true],
      [
        'Oldest mission',
        ({ oldestRunId, organization }) =>
          html`<code class="id">${oldestRunId}</code><div class="muted small">${organization}</div>`,
      ],
    ],
    empty: 'No mission is waiting.',
    below: events,
  });
}

const runtimesCard = ({ runtimes }: InstallationStatus): Html =>
  tableCard({
    title: 'Runtimes',
    rows: runtimes,
    columns: [
      [
        'Runtime',
        ({ name, isConnected, isolation }) =>
          html`${name}${!isConnected && html` <span class="tag">disconnected</span>`}<div class="muted small">${isolation}</div>`,
      ],
      ['Serves', ({ organization }) => organization ?? html`<span class="muted">all organizations</span>`],
      [
        'Harnesses',
        ({ harnesses }) =>
          harnesses.map(({ harness, version }) => (version ? `${harness} ${version}` : harness)).join(', '),
      ],
      ['Places', ({ places }) => places, true],
      ['Last seen', ({ lastSeenAt }) => durationOf(now() - lastSeenAt), true],
    ],
    empty: 'No runtime has connected in the last 24 hours.',
  });
