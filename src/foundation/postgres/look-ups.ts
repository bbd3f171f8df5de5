// Batches indexed reads: all look-ups of one turn of the event loop are sent in one message over one connection, which saves most of the
// writing and reading (bench/README.md).
import { databaseErrorKind, isStalePlan } from './database-errors.ts';
import type { Pool } from './pool.ts';
import type { Repeated } from './statement.ts';

interface PendingLookUp {
  text: string;
  values: readonly unknown[];
  resolve(rows: unknown[]): void;
  reject(reason: unknown): void;
}

/** Sends statements and returns the rows of each, in order; fails as a whole. */
type Send = (to: Pool, statements: readonly Repeated[]) => Promise<unknown[][]>;

/**
 * Maximum numbers of statements and of rows in one message. They are limited because the result of a statement is delivered only when all
 * statements of its message have ended.
 */
const statementsAtOnce = 50;
const rowsAtOnce = 400;

interface Turn {
  asked: PendingLookUp[];
  /** Maximum number of rows that the statements may return. */
  rows: number;
}

export function createLookUps(send: Send) {
  const turns = new WeakMap<Pool, Turn>();

  /** After a rejection by the server, the statements are sent again one by one, so that one invalid value fails only its own read. */
  async function ask(to: Pool, asked: readonly PendingLookUp[]): Promise<void> {
    const byText = new Map<string, PendingLookUp[]>();
    for (const one of asked) {
      const same = byText.get(one.text);
      if (same) same.push(one);
      else byText.set(one.text, [one]);
    }
    const inOrder = [...byText.values()];
    try {
      const statements = inOrder.map((same) => ({ text: same[0]!.text, values: same.map(({ values }) => values) }));
      const found = await send(to, statements);
      for (const [i, { resolve }] of inOrder.flat().entries()) resolve(found[i]!);
    } catch (error) {
      const again = asked.length > 1 && (databaseErrorKind(error) === 'final' || isStalePlan(error));
      for (const one of asked) {
        if (again) void ask(to, [one]);
        else one.reject(error);
      }
    }
  }

  /** `rows`: the maximum number of rows that the read may return. */
  return <Row>(to: Pool, text: string, values: readonly unknown[], rows: number): Promise<Row[]> =>
    new Promise((resolve, reject) => {
      let turn = turns.get(to);
      if (!turn || turn.asked.length === statementsAtOnce || turn.rows + rows > rowsAtOnce) turn = begin(to);
      turn.asked.push({ text, values, resolve: resolve as PendingLookUp['resolve'], reject });
      turn.rows += rows;
    });

  function begin(to: Pool): Turn {
    const turn: Turn = { asked: [], rows: 0 };
    turns.set(to, turn);
    setImmediate(() => {
      if (turns.get(to) === turn) turns.delete(to);
      void ask(to, turn.asked);
    });
    return turn;
  }
}
