// JMESPath over payloads that anybody may have written. An expression must not occupy the process: functions with a
// size argument are rejected, and V8 ends an evaluation after its time limit.
import { createContext, Script } from 'node:vm';
import { compile, type JSONValue, search } from '@jmespath-community/jmespath';

/** Time limit of an evaluation in elapsed time, long enough for an ordinary expression on a busy machine. */
const timeoutMs = 500;
let deadline: number | null = null;

/** Runs work whose evaluations share one time limit, because a template may contain hundreds of expressions. */
export function withinOneLimit<T>(work: () => T): T {
  if (deadline !== null) return work();
  deadline = performance.now() + timeoutMs;
  try {
    return work();
  } finally {
    deadline = null;
  }
}

const sandbox = createContext({ search, expression: '', payload: null as unknown });
const evaluation = new Script('search(payload, expression)');

/** The reason why an expression is rejected; null for a valid expression. */
export function expressionError(expression: string): string | null {
  // `pad_left` and `pad_right` accept any width, so a short expression could create a huge text.
  if (/\bpad_(?:left|right)\s*\(/.test(expression)) return 'must not use pad_left and pad_right';
  try {
    compile(expression);
    return null;
  } catch (error) {
    return `must be a JMESPath expression: ${(error as Error).message}`;
  }
}

/** Evaluates an expression. @throws an Error when it fails on the payload, or takes too long */
export function evaluate(expression: string, payload: unknown): JSONValue {
  try {
    Object.assign(sandbox, { expression, payload });
    const timeout = deadline === null ? timeoutMs : Math.max(1, Math.ceil(deadline - performance.now()));
    return evaluation.runInContext(sandbox, { timeout }) as JSONValue;
  } finally {
    Object.assign(sandbox, { payload: null });
  }
}

/** Truth as JMESPath defines it: null and empty strings, lists and objects are false. */
export const isTrue = (value: JSONValue): boolean =>
  value !== null &&
  value !== false &&
  value !== '' &&
  !(typeof value === 'object' && Object.keys(value as object).length === 0);

const placeholder = /\{\{\s*(.+?)\s*\}\}/gs;

/** The reason why a template is rejected; null for a valid template. */
export function templateError(template: string): string | null {
  for (const [, expression] of template.matchAll(placeholder)) {
    const error = expressionError(expression!);
    if (error) return `{{ ${expression} }} ${error}`;
  }
  return null;
}

/** Replaces the `{{ expressions }}` of the template by their values; one that cannot be evaluated becomes empty. */
export const render = (template: string, payload: unknown): string =>
  withinOneLimit(() => template.replace(placeholder, (_, expression: string) => textOf(expression, payload)));

function textOf(expression: string, payload: unknown): string {
  try {
    const value = evaluate(expression, payload);
    return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value, null, 1);
  } catch {
    return '';
  }
}
