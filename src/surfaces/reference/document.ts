// Reads the OpenAPI document for the pages of the reference: operations by tag, and the bounds of a schema as text.
import type { Json } from '#graph/projection/json-schema.ts';

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Json;
}

interface Media {
  schema: Json;
  example?: unknown;
}

export interface Content {
  content?: Record<string, Media>;
}

export interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** Credentials of which any one is accepted; empty for a public operation. */
  security: Json[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content & { description?: string }>;
  'x-required-scope'?: string;
}

export interface ApiDocument {
  info: { title: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  /** Requests that the service sends, by name. */
  webhooks: Record<string, { post: DocumentedOperation }>;
  components: { schemas: Record<string, Json> };
}

export interface DocumentedRoute {
  method: string;
  path: string;
  operation: DocumentedOperation;
}

/** The operations by tag, in alphabetical order of the tags. */
export function routesByTag({ paths }: ApiDocument): [tag: string, routes: DocumentedRoute[]][] {
  const groups = new Map<string, DocumentedRoute[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0]!;
      groups.set(tag, [...(groups.get(tag) ?? []), { method: method.toUpperCase(), path, operation }]);
    }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

export const recordOf = (reference: unknown): string => String(reference).split('/').at(-1)!;

/**
 * A type as Markdown, such as `string or null`, "`a`, `b`", `array of [Project](#Project)`.
 * @param addressOf The address of a record's section
 */
export function typeOf(schema: Json, addressOf: (record: string) => string): string {
  const of = (part: unknown): string => typeOf(part as Json, addressOf);
  if (schema.$ref) return `[${recordOf(schema.$ref)}](${addressOf(recordOf(schema.$ref))})`;
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``;
  const options = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (options) return options.map(of).join(' or ');
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const types = [schema.type ?? 'any JSON'].flat().map(String);
  return types.map((type) => (type === 'array' ? `array of ${of(schema.items ?? {})}` : type)).join(' or ');
}

/** The first media type of a body or response. */
export const mediaOf = (part: Content | undefined): (Media & { type: string }) | undefined => {
  const [first] = Object.entries(part?.content ?? {});
  return first && { type: first[0], ...first[1] };
};

/** The response of a success, and the status codes of the errors. */
export function answersOf({ responses }: DocumentedOperation): {
  status: string;
  success: Content;
  failures: string[];
} {
  const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2'))!;
  return { status, success, failures: Object.keys(responses).filter((code) => Number(code) >= 400) };
}

export function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, default: defaultValue }: Json): string {
  const parts = [
    (minimum !== undefined || maximum !== undefined) && `${minimum ?? ''} to ${maximum ?? ''}`,
    maxLength !== undefined &&
      (minLength ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`),
    maxItems !== undefined && `at most ${maxItems}`,
    defaultValue !== undefined && `default ${JSON.stringify(defaultValue)}`,
  ];
  return parts.filter(Boolean).join('; ');
}

export const membersOf = (schema: Json): [name: string, schema: Json, isRequired: boolean][] => {
  const required = new Set(schema.required as string[] | undefined);
  return Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, one]) => [
    name,
    one,
    required.has(name),
  ]);
};
