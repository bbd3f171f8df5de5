// Cards of the processes of the service, and of the database: the server, its replicas, migrations, tables and statements.
import type { InstallationStatus } from '#domain/lifecycle/installation/status.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { age, count, size, tableCard } from './operations-cards.ts';
import { instantOf } from './time.ts';

export const databaseCards = (status: InstallationStatus): Html =>
  html`${clientsCard(status)}${serverCard(status)}${backupsCard(status)}${tablesCard(status)}${statementCards(status)}`;

const clientsCard = ({ clients }: InstallationStatus): Html =>
  tableCard({
    title: 'Processes',
    rows: clients,
    columns: [
      ['Process', (client) => client.process ?? (client.name || html`<span class="muted">without a name</span>`)],
      ['Version', ({ version }) => version],
      ['Address', ({ address }) => address],
      ['Connections', ({ connections }) => count(connections), true],
      ['In use', ({ active }) => count(active), true],
      ['Connected', ({ connectedSeconds }) => age(connectedSeconds), true],
    ],
    empty: 'No process is connected.',
    below: html`<p class="muted small">Programs with a connection to the database.</p>`,
  });

function serverCard({ server, migrations, replicas, replicaInUse }: InstallationStatus): Html {
  const pending = migrations?.pending ?? [];
  const fact = (name: string, value: string) => html`<dt>${name}</dt><dd>${value}</dd>`;
  return html`<section class="card"><h2>Database</h2><dl class="facts">
    ${
      server && [
        fact('Server', `PostgreSQL ${server.version}, started ${age(server.startedSecondsAgo)} ago`),
        fact('Size', size(server.bytes)),
        fact('Connections', `${server.connections} of ${server.maxConnections}`),
        fact('Transaction ids used', `${(server.transactionIdsUsed * 100).toFixed(1)} percent`),
      ]
    }
    ${
      migrations && [
        fact('Migrations', `${migrations.applied} applied, ${pending.length} pending`),
        fact('Newest', migrations.newest ?? 'none'),
      ]
    }
    ${pending.length > 0 && fact('Pending', pending.join(', '))}
    ${replicaInUse !== null && fact('Reads of this process', replicaInUse ? 'go to the replica' : 'go to the primary')}
  </dl>
  ${replicas?.length === 0 ? html`<p class="muted">No replica is connected to this server.</p>` : replicasTable(replicas)}</section>`;
}

const backupsCard = ({ backups }: InstallationStatus): Html | null =>
  backups &&
  tableCard({
    title: 'Backups',
    rows: backups.latest,
    columns: [
      [
        'Name',
        ({ name, error }) => html`<code>${name}</code>${error && html`<div class="muted small">${error}</div>`}`,
      ],
      ['State', ({ endedAt, error }) => (endedAt === null ? 'being written' : error ? 'failed' : 'complete')],
      ['Size', ({ sizeBytes }) => (sizeBytes === null ? '-' : size(sizeBytes)), true],
      ['Took', ({ startedAt, endedAt }) => (endedAt === null ? '-' : age((endedAt - startedAt) / 1_000)), true],
      ['Started', ({ startedAt }) => instantOf(startedAt), true],
    ],
    empty: 'No backup has been started.',
  });

const replicasTable = (replicas: InstallationStatus['replicas']): Html | null =>
  replicas &&
  html`<ul class="list">${replicas.map(
    ({ name, address, state, syncState, lagBytes, lagSeconds }) => html`<li>Replica ${name} ${address}
    <div class="muted small">${state ?? 'state unknown'}, ${syncState}, ${lagBytes === null ? 'lag unknown' : `${size(lagBytes)} behind`}${
      lagSeconds !== null && `, ${lagSeconds.toFixed(1)} s`
    }</div></li>`,
  )}</ul>`;

const tablesCard = ({ tables }: InstallationStatus): Html =>
  tableCard({
    title: 'Tables by size',
    rows: tables?.tables ?? null,
    columns: [
      ['Table', ({ table }) => html`<code>${table}</code>`],
      ['Size', ({ bytes }) => size(bytes), true],
      ['Indexes', ({ indexBytes }) => size(indexBytes), true],
      ['Rows (estimate)', ({ rows }) => rows.toLocaleString('en'), true],
      [
        'Dead',
        ({ rows, deadRows }) => (deadRows === 0 ? count(0) : `${Math.round((100 * deadRows) / (rows + deadRows))} %`),
        true,
      ],
      ['Vacuumed', ({ vacuumedSecondsAgo }) => age(vacuumedSecondsAgo), true],
    ],
    empty: 'There is no table.',
    below:
      tables &&
      tables.otherTables > 0 &&
      html`<p class="muted small">${tables.otherTables} others: ${size(tables.otherBytes)}.</p>`,
  });

const milliseconds = (amount: number): string =>
  `${amount < 10 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en')} ms`;

function statementCards({ runningStatements, costlyStatements, unread }: InstallationStatus): Html {
  const running = tableCard({
    title: 'Long-running statements',
    rows: runningStatements,
    columns: [
      [
        'Statement',
        ({ statement, client }) =>
          html`<code class="statement" title="${statement}">${statement}</code><div class="muted small">${client}</div>`,
      ],
      ['State', ({ state, waitsFor }) => html`${state}${waitsFor && html`<div class="muted small">${waitsFor}</div>`}`],
      ['Statement', ({ statementSeconds }) => age(statementSeconds), true],
      ['Transaction', ({ transactionSeconds }) => age(transactionSeconds), true],
    ],
    empty: 'No statement has been running for more than a second, and no transaction has been open for more than five.',
  });
  const without = costlyStatements === null && !('costlyStatements' in unread);
  const costly = tableCard({
    title: 'Statements by total time',
    rows: without ? [] : costlyStatements,
    columns: [
      ['Statement', ({ statement }) => html`<code class="statement" title="${statement}">${statement}</code>`],
      ['Calls', ({ calls }) => calls.toLocaleString('en'), true],
      ['Total', ({ totalMs }) => (totalMs < 10_000 ? milliseconds(totalMs) : age(totalMs / 1_000)), true],
      ['Mean', ({ meanMs }) => milliseconds(meanMs), true],
      ['Slowest', ({ maxMs }) => milliseconds(maxMs), true],
    ],
    empty: without
      ? 'Create the extension pg_stat_statements in the database to see which statements take the most time.'
      : 'No statement was recorded.',
  });
  return html`${running}${costly}`;
}
