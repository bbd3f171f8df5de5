// Finds the query plans of a case. A service in this process answers the requests of the case, and each SQL statement that it executes is
// recorded. PostgreSQL then explains each recorded statement, with the values that it was executed with.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openLog } from '#foundation/log.ts';
import { database } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { createApp } from '../src/app.ts';
import { answerOf } from './big-cases.ts';
import type { Case } from './cases.ts';

interface Seen {
  text: string;
  values: unknown[];
}

const settings = {
  version: '0.0.0',
  requestsPerMinute: 1_000_000,
  registrationsPerHour: 1_000_000,
  claimGrantType: 'urn:workos:agent-auth:grant-type:claim',
  trustedIssuers: [],
  trustProxy: false,
};

/** The plans of a case as text, one for each statement. The database must be open (bench/big-database.ts). */
export async function explain({ requests }: Case, secretKey: Buffer): Promise<string[]> {
  bindSecretKey(secretKey);
  const app = createServer();
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
  app.on('request', createApp({ ...settings, log: openLog({ level: 'silent' }) }));
  try {
    // The first request causes statements that later requests do not need, so it is not recorded.
    await answerOf(url, requests[0]!);
    const { seen, stop } = watch();
    await answerOf(url, requests[0]!).finally(stop);
    const plans: string[] = [];
    for (const statement of seen) plans.push(await planOf(statement));
    return plans;
  } finally {
    app.close();
    app.closeAllConnections();
  }
}

/** Records the statements of all connections of this process until it is stopped. */
function watch(): { seen: Seen[]; stop: () => void } {
  const seen: Seen[] = [];
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [{ text, values }] = args as [Partial<Seen>];
    if (text && values) seen.push({ text, values });
    return (query as (...args: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  return {
    seen,
    stop() {
      pg.Client.prototype.query = query;
    },
  };
}

async function planOf({ text, values }: Seen): Promise<string> {
  const connection = (await database().client.acquireConnection()) as pg.Client;
  try {
    const { rows } = await connection.query(`explain (analyze, buffers) ${text}`, values);
    return [text, ...rows.map((row) => `  ${row['QUERY PLAN']}`)].join('\n');
  } finally {
    await database().client.releaseConnection(connection);
  }
}
