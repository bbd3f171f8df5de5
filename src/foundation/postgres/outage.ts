// Observes a database that accepts no connections: tries again at growing intervals, with one log line for each attempt and one when the
// database is available again.
import type { Knex } from 'knex';
import pg from 'pg';
import { minutes, seconds } from '../clock.ts';
import { serversOf } from './primary.ts';

const pauseMs = { first: seconds(1), longest: minutes(1) };

export interface Outage {
  readonly isOn: boolean;
  /** Ends the outage; called when a connection was opened. */
  end(): void;
}

/** The servers of a connection, such as `one:5432, two:5432`, without user and password. */
const addressOf = (connection: string | pg.ClientConfig): string =>
  (typeof connection === 'string' ? serversOf(connection) : [connection])
    .map((server) => new pg.Client(server))
    .map(({ host, port }) => `${host}:${port}`)
    .join(', ');

/** Tracks whether a pool can get connections to its database. */
export function watchOutage(
  { client }: Knex,
  connection: string | pg.ClientConfig,
  log: (line: string) => void,
): Outage {
  const acquire = client.acquireConnection.bind(client);
  const database = `the database at ${addressOf(connection)}`;
  let isOn = false;
  let isSaid = false;
  let pause = pauseMs.first;
  let nextLineAt = 0;

  /** Logs the line, unless the previous line is recent: an unstable database would otherwise fill the log. */
  function say(line: string): void {
    const present = performance.now();
    if (present < nextLineAt) return;
    if (present > nextLineAt + pauseMs.longest) pause = pauseMs.first;
    log(line);
    isSaid = isOn;
    nextLineAt = present + pause;
    pause = Math.min(2 * pause, pauseMs.longest);
  }
  function look(): void {
    const timer = setTimeout(async () => {
      if (!isOn || !client.pool) return;
      try {
        await client.releaseConnection(await client.acquireConnection());
        end();
      } catch {
        look();
      }
    }, nextLineAt - performance.now());
    timer.unref();
  }
  function end(): void {
    isOn = false;
    if (isSaid) log(`${database} is back`);
    isSaid = false;
  }
  client.acquireConnection = () =>
    acquire().catch((error: Error & { code?: string }) => {
      const reason = error.message || error.code;
      const isFull = error.name === 'KnexTimeoutError' && !isOn;
      if (isFull) say(`no connection to ${database} is free: ${reason}`);
      else if (client.pool) {
        const isNew = !isOn;
        isOn = true;
        say(`waiting for ${database}: ${reason}`);
        if (isNew) look();
      }
      throw error;
    });
  return {
    get isOn() {
      return isOn;
    },
    end,
  };
}
