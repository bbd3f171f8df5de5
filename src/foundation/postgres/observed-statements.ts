// Spans of statements, and a report of slow ones. Both have the text of a statement without its values.
import type pg from 'pg';
import { failWith, inSpan, type OpenSpan, tracing } from '../tracing/tracing.ts';
import { type DescribeOrigin, presentOrigin } from './origin.ts';

/** Maximum number of characters of a text in a span or a report. */
const maxText = 1_000;

/**
 * The text of a statement for spans and reports. Values are sent separately from the text, except in BEGIN, which contains who makes the
 * changes (origin.ts). Therefore, a BEGIN is reduced to this word.
 */
const textOf = (text: string): string => (text.startsWith('BEGIN') ? 'BEGIN' : text.slice(0, maxText));

const summaries = new Map<string, string>();
const maxKept = 5_000;

const firstTable = /\bfrom\s+"?([\w.]+)/i;

/**
 * Replaces each expression in parentheses by `?`, so that the first table in the result is the table of the query itself and not of a
 * subquery. A query that begins with WITH is unchanged.
 */
function withoutSubqueries(text: string): string {
  let [outer, shorter] = ['', text];
  while (outer !== shorter && !/^\s*with\b/i.test(text)) {
    outer = shorter;
    shorter = outer.replace(/\([^()]*\)/g, '?');
  }
  return shorter;
}

/** The operation and its first table, such as `SELECT projects`. The results for a bounded number of texts are cached. */
function summaryOf(text: string): string {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const [, written, into] = /\b(insert into|update|delete from)\s+"?([\w.]+)/i.exec(text) ?? [];
  const [, read] = firstTable.exec(withoutSubqueries(text)) ?? firstTable.exec(text) ?? [];
  const operation = (written ?? /\w+/.exec(text)?.[0] ?? '')
    .split(' ')[0]!
    .replace(/^with$/i, 'select')
    .toUpperCase();
  const table = written ? into : operation === 'SELECT' ? read : undefined;
  const summary = table ? `${operation} ${table}` : operation;
  if (summaries.size < maxKept) summaries.set(text, summary);
  return summary;
}

/** The span of a statement, if the caller is in a span: statements outside of requests and jobs are not traced. */
function begin(text: string): OpenSpan | undefined {
  const on = tracing();
  if (!on?.isRecording()) return undefined;
  const summary = summaryOf(text);
  const query = { 'db.query.summary': summary, 'db.query.text': textOf(text) };
  return on.begin({ name: summary, kind: 'client', attributes: { 'db.system.name': 'postgresql', ...query } });
}

export function spanned<T>(text: string, send: () => Promise<T>): Promise<T> {
  const span = begin(text);
  return span ? inSpan(span, send) : send();
}

type Callback = (error: Error | null, result: unknown) => void;
type Query = (query: unknown, values: unknown, callback?: Callback) => unknown;

/** Observes the statements that knex sends on a connection, recognized by their callbacks. database.ts observes its own statements. */
export function observeStatements(client: pg.Client): void {
  const own = client as unknown as { query: Query };
  const send = own.query.bind(client);
  own.query = (query, values, callback) => {
    const done = typeof values === 'function' ? (values as Callback) : callback;
    const text = typeof query === 'string' ? query : (query as { text?: string }).text;
    if (!done || text === undefined) return send(query, values, callback);
    const span = begin(text);
    const origin = presentOrigin();
    const sentAt = performance.now();
    const observed: Callback = (error, result) => {
      if (span && error) failWith(span, error);
      span?.end();
      // `origin` was read beforehand, because the driver calls this function outside of the caller's async context.
      noteDuration(text, 1, sentAt, origin, span);
      done(error, result);
    };
    return typeof values === 'function' ? send(query, observed) : send(query, values, observed);
  };
}

export interface SlowStatement {
  ms: number;
  statement: string;
  /** Number of statements in the message. If there are several, `statement` is the last one. */
  statements: number;
  /**
   * The trace and the request that sent the statement; for a message of several requests, the trace and the request of the first statement.
   */
  traceId: string | undefined;
  requestId: string | undefined;
}

let slow: { ms: number; report(statement: SlowStatement): void } = { ms: Number.POSITIVE_INFINITY, report() {} };

/** Reports statements that take at least this long on their connection. */
export function bindSlowStatements(ms: number, report: (statement: SlowStatement) => void): void {
  slow = { ms, report };
}

export function noteDuration(
  text: string,
  statements: number,
  sentAt: number,
  origin?: DescribeOrigin,
  span?: OpenSpan,
): void {
  const ms = performance.now() - sentAt;
  if (ms < slow.ms) return;
  const requestId = (origin ?? presentOrigin())?.()?.requestId ?? undefined;
  const { traceId } = span ?? tracing()?.active() ?? {};
  slow.report({ ms: Math.round(ms), statement: textOf(text), statements, traceId, requestId });
}
