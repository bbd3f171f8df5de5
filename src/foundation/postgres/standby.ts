// Watches a standby of the primary (streaming replication): whether the server is a standby, and how far it has replayed the primary's
// writes.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

/**
 * Milliseconds: the interval of queries, the time limits of a connection and of a response, the maximum wait of a read for the standby,
 * and the pause between checks.
 */
const timing = { interval: 250, connect: 1_000, answer: 500, catchUp: 20, pause: 1 };
/** Number of intervals after which a delay is reported. */
const lateIntervals = 4;
const inUse = 'reads go to the replica';

/**
 * A position in the primary's WAL. A promotion begins a new timeline, whose positions are not comparable with those of the old timeline.
 */
export interface Position {
  timeline: number;
  /** Number of bytes since the beginning of the WAL. */
  at: number;
}

/**
 * The position up to which all visible changes are written, as text; null on a server that is not a primary. Changes are on disk before
 * they become visible, except with `synchronous_commit = off`.
 */
export const writtenSql = `(select substr(pg_walfile_name(at), 1, 8) || '/' || at from (select
  case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as at
  where not pg_is_in_recovery()) written)`;

/** Parses the result of `writtenSql`. */
export function positionOf(text: string): Position {
  const [timeline, high, low] = text.split('/').map((part) => Number.parseInt(part, 16));
  return { timeline: timeline!, at: high! * 2 ** 32 + low! };
}

/** SQL for a value that identifies one server until its restart. */
export const serverSql = 'select extract(epoch from pg_postmaster_start_time())::text as server';

// The timeline of the last restart point. It may be older than the present timeline, but is never a timeline that the standby has not reached.
const standbySql = `${serverSql}, (select timeline_id from pg_control_checkpoint()) as timeline,
  pg_last_wal_replay_lsn() - '0/0' as at where pg_is_in_recovery()`;

interface Answer extends Position {
  server: string;
}

export interface Standby {
  /** Whether reads use the standby at present. */
  isInUse(): boolean;
  /**
   * Whether the standby has replayed this position, or does so within 20 ms. After a read has waited in vain, later reads use the primary
   * at once. They use the standby again when it has caught up.
   */
  reached(position: Position): boolean | Promise<boolean>;
  close(): void;
}

export interface StandbySettings {
  connectionString: string;
  /** Logs one line when reads begin to use the standby, and one when they stop using it. */
  report(line: string): void;
  /** Called when the standby responds and is replaying changes of the primary. */
  onFound(server: string): void;
  /**
   * Called when the standby is unreachable, does not respond or accepts writes. When it is found again, it may have replayed fewer changes
   * than it had before.
   */
  onLost(): void;
}

export function watchStandby({ connectionString, report, onFound, onLost }: StandbySettings): Standby {
  /** The last response of the standby. It is null while reads must not use the standby. */
  let known: Answer | null = null;
  let strayed = false;
  const say = reporter(report);
  const { look, close } = askStandby(
    connectionString,
    (reason) => {
      say(`reads go to the primary: the replica ${reason}`);
      if (known) onLost();
      known = null;
      strayed = false;
      lag.forget();
    },
    (answer) => {
      if (!known) {
        onFound(answer.server);
        say(inUse);
      }
      known = answer;
    },
  );
  const lag = watchLag(look, () => known?.at ?? null, say);

  async function tick(): Promise<void> {
    await look();
    if (known) lag.check(known.at);
  }
  void tick();
  const ticking = setInterval(tick, timing.interval).unref();

  return {
    isInUse: () => known !== null && !lag.isLate() && !strayed,
    reached(position) {
      if (!known) return false;
      if (strayed !== (known.timeline !== position.timeline)) {
        strayed = !strayed;
        say(strayed ? 'reads go to the primary: the replica has not followed it onto its timeline yet' : inUse);
      }
      if (strayed) return false;
      return known.at >= position.at || (!lag.isLate() && lag.catchUp(position));
    },
    close() {
      clearInterval(ticking);
      close();
    },
  };
}

/** Returns a function that reports a line unless it equals the previous one. */
function reporter(report: (line: string) => void): (line: string) => void {
  let said = '';
  return (line) => {
    if (line !== said) report(line);
    said = line;
  };
}

/**
 * Watches how far the standby is behind the positions that reads need. @param replayed The position that the standby has replayed; null
 * means that reads must not use it.
 */
function watchLag(look: () => Promise<void>, replayed: () => number | null, say: (line: string) => void) {
  /** A position that the standby did not reach in time; null while the standby is not late. */
  let missed: number | null = null;
  let late = 0;
  return {
    isLate: () => missed !== null,
    forget(): void {
      [missed, late] = [null, 0];
    },
    /**
     * Called with the position up to which the standby has replayed changes. Once the standby has replayed all changes up to the missed
     * position, it is no longer late.
     */
    check(at: number): void {
      if (missed === null) return;
      if (at < missed) {
        if (++late === lateIntervals) say('reads go to the primary: the replica lags behind');
        return;
      }
      this.forget();
      say(inUse);
    },
    async catchUp({ at }: Position): Promise<boolean> {
      const timeout = wait(timing.catchUp, true);
      let isLate = false;
      while (!isLate && missed === null) {
        await Promise.race([look(), timeout]);
        const reached = replayed();
        if (reached === null) return false;
        if (reached >= at) return true;
        isLate = await Promise.race([wait(timing.pause, false), timeout]);
      }
      missed = Math.max(missed ?? 0, at);
      return false;
    },
  };
}

/** Queries the position on one connection, which is reopened when it is lost. Concurrent callers share one answer. */
function askStandby(connectionString: string, onLost: (reason: string) => void, onAnswer: (answer: Answer) => void) {
  let client: pg.Client | null = null;
  let asking: Promise<void> | null = null;
  let closed = false;

  function lose(reason: string): void {
    if (closed) return;
    void client?.end().catch(() => {});
    client = null;
    onLost(reason);
  }

  async function connect(): Promise<pg.Client> {
    const { connect: connectionTimeoutMillis, answer: query_timeout } = timing;
    const made = new pg.Client({ connectionString, connectionTimeoutMillis, query_timeout });
    client = made;
    const gone = () => client === made && lose('is gone');
    made.on('error', gone);
    made.on('end', gone);
    await made.connect();
    return made;
  }

  async function ask(): Promise<void> {
    try {
      const asked = client ?? (await connect());
      const { rows } = await asked.query<Answer>(standbySql);
      if (client !== asked || closed) return;
      if (rows[0]) onAnswer(rows[0]);
      else lose('accepts writes');
    } catch (error) {
      lose(`does not answer: ${(error as Error).message}`);
    }
  }

  return {
    look(): Promise<void> {
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },
    close(): void {
      closed = true;
      void client?.end().catch(() => {});
    },
  };
}
