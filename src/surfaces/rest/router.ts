// Finds the route of a path and method. A fixed segment takes precedence over a parameter. An empty segment still binds to a parameter:
// `/projects/` is a project with an empty id (400, docs/contract.md#errors), not an unknown path.
import { invalid, methodNotAllowed, notFound } from '#foundation/problem.ts';

interface Node<R> {
  fixed: Map<string, Node<R>>;
  parameter?: Node<R>;
  methods?: Map<string, R>;
}

const node = <R>(): Node<R> => ({ fixed: new Map() });

export interface Match<R> {
  route: R;
  /** Decoded values of the path parameters, in order. */
  values: string[];
}

export interface Router<R> {
  /** Finds the route. Throws 404, 405 with `Allow`, or 400 for broken percent-encoding. Returns the text of `Allow` for OPTIONS. */
  match(method: string, path: string): Match<R> | { allow: string };
}

/** Creates the router. In both of its functions `path` excludes the base and begins with a slash. */
export function createRouter<R extends { method: string; template: string }>(routes: readonly R[]): Router<R> {
  const root = node<R>();
  for (const route of routes) {
    let at = root;
    for (const segment of route.template.slice(1).split('/')) {
      if (segment.startsWith('{')) at = at.parameter ??= node();
      else {
        if (!at.fixed.has(segment)) at.fixed.set(segment, node());
        at = at.fixed.get(segment)!;
      }
    }
    at.methods ??= new Map();
    if (at.methods.has(route.method)) throw new Error(`two fields declare ${route.method} ${route.template}`);
    at.methods.set(route.method, route);
  }

  return {
    match(method, path) {
      const raw: string[] = [];
      const found = walk(root, path.slice(1).split('/'), 0, raw);
      if (!found?.methods) throw notFound('path');
      const route = found.methods.get(method === 'HEAD' ? 'GET' : method);
      if (!route) {
        const allow = [...found.methods.keys(), ...(found.methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
        if (method === 'OPTIONS') return { allow };
        throw methodNotAllowed(allow);
      }
      return { route, values: raw.map(decoded) };
    },
  };
}

function walk<R>(at: Node<R>, segments: string[], depth: number, values: string[]): Node<R> | undefined {
  if (depth === segments.length) return at.methods && at;
  const segment = segments[depth]!;
  const fixed = at.fixed.get(segment);
  const found = fixed && walk(fixed, segments, depth + 1, values);
  if (found || !at.parameter) return found;
  values.push(segment);
  const through = walk(at.parameter, segments, depth + 1, values);
  if (!through) values.pop();
  return through;
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('The path is not valid percent-encoded UTF-8.');
  }
}
