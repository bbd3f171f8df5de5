// Checks requests to a stand-in and its responses against the OpenAPI description that the vendor publishes.
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Asked, Reply, Violate } from './fake-vendor.ts';

interface Operation {
  operationId: string;
  parameters: { name: string; in: 'path' | 'query'; required?: boolean; schema: object }[];
  requestBody?: { required: boolean; schema: object };
  responses: Record<string, object | null>;
}

interface Route {
  method: string;
  pattern: RegExp;
  operation: Operation;
  checks: { path: ValidateFunction; query: ValidateFunction; body: ValidateFunction | null };
}

const ajv = new Ajv({ allowUnionTypes: true });
/** The validator for path and query, whose values are text. */
const ajvOfText = new Ajv({ coerceTypes: true });
// The package's types are those of the CommonJS build.
for (const one of [ajv, ajvOfText]) (addFormats as unknown as (ajv: Ajv) => void)(one);

export interface Called {
  operationId: string;
  path: Record<string, string>;
  query: Record<string, unknown>;
}

/** Reads a vendor's published description of its API. @param widePaths Names of path parameters whose values may contain slashes */
export function readPublishedApi(fixture: string, widePaths: readonly string[] = []) {
  const description: { version?: string; paths: Record<string, Record<string, Operation>> } = JSON.parse(
    readFileSync(new URL(`../fixtures/${fixture}`, import.meta.url), 'utf8'),
  );
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => {
      const pattern = path.replace(
        /\{(\w+)\}/g,
        (_, name) => `(?<${name}>${widePaths.includes(name) ? '.+' : '[^/]+'})`,
      );
      const { requestBody: body } = operation;
      const parametersIn = (place: string) => {
        const here = operation.parameters.filter((one) => one.in === place);
        return ajvOfText.compile({
          type: 'object',
          properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
          required: here.filter(({ required }) => required).map(({ name }) => name),
          additionalProperties: false,
        });
      };
      return {
        method: method.toUpperCase(),
        pattern: new RegExp(`^${pattern}$`),
        operation,
        checks: {
          path: parametersIn('path'),
          query: parametersIn('query'),
          // The check is stricter than the published schema: a field that the vendor does not know is a mistake of this platform.
          body: body ? ajv.compile({ ...body.schema, additionalProperties: false }) : null,
        },
      };
    }),
  );

  function routeOf({ method, url }: Asked) {
    const { pathname, searchParams } = new URL(url, 'http://vendor');
    for (const route of routes) {
      const found = route.method === method ? route.pattern.exec(pathname) : null;
      if (found) return { route, path: { ...found.groups }, query: Object.fromEntries(searchParams) };
    }
    return null;
  }

  return {
    version: description.version,
    nameOf: (asked: Asked): string => routeOf(asked)?.route.operation.operationId ?? '',

    /** Checks the request, lets `play` handle it, and checks the response. Null for an unknown route. */
    async answer(
      asked: Asked,
      violate: Violate,
      play: (called: Called) => Reply | Promise<Reply>,
    ): Promise<Reply | null> {
      const found = routeOf(asked);
      if (!found) {
        violate(`${asked.method} ${asked.url}`);
        return null;
      }
      const { route, path, query } = found;
      const { operation, checks } = route;
      if (!checks.path(path)) violate(ajv.errorsText(checks.path.errors));
      if (!checks.query(query)) violate(ajv.errorsText(checks.query.errors));
      if (checks.body ? !checks.body(asked.body) : asked.body !== undefined)
        violate(ajv.errorsText(checks.body?.errors));
      const reply = await play({ operationId: operation.operationId, path: path as Record<string, string>, query });
      const shape = operation.responses[reply.status];
      if (shape && !ajv.validate(shape, reply.body)) violate(`our answer: ${ajv.errorsText()}`);
      return reply;
    },
  };
}

/** A page of a list with `page` and `per_page`. */
export function pageIn<T>(entries: readonly T[], { per_page = 20, page = 1 }: Record<string, unknown>): T[] {
  const [size, number] = [Math.min(Number(per_page), 100), Number(page)];
  return entries.slice((number - 1) * size, number * size);
}
