// Examples of the OpenAPI document: those declared by a schema, or else values derived from its types and names.
import { type Noun, prefixes } from '#foundation/ids.ts';
import type { Json } from '#graph/projection/json-schema.ts';

/** Example values by the name of a member. */
const values: Record<string, unknown> = {
  name: 'Web shop',
  email: 'bob@example.com',
  orgSlug: 'acme',
  slug: 'acme',
  repoFullName: 'acme/shop',
  issueCode: 'WEB',
  scmOwner: 'acme',
  scmRepo: 'shop',
  model: 'claude-sonnet-4-5',
  defaultModel: 'claude-sonnet-4-5',
  timezone: 'Europe/Berlin',
  time: '09:00',
  prompt: 'Review the open pull requests.',
  scope: 'projects:read',
  scopes: 'projects:read',
  post_claim_scopes: 'projects:read',
  pre_claim_scopes: 'projects:read',
  token: 'pat_9kQ2…',
  access_token: 'oat_9kQ2…',
  refresh_token: 'ort_9kQ2…',
  claim_token: 'clm_9kQ2…',
  identity_assertion: 'eyJ0eXAiOiJvYXV0aC1pZC1qYWcrand0In0.e30.c2ln',
  assertion: 'eyJ0eXAiOiJvYXV0aC1pZC1qYWcrand0In0.e30.c2ln',
  grant_type: 'authorization_code',
  grant_types: 'authorization_code',
  response_types: 'code',
  redirect_uri: 'http://127.0.0.1:8976/callback',
  redirect_uris: 'http://127.0.0.1:8976/callback',
  client_uri: 'https://client.example',
  logo_uri: 'https://client.example/logo.png',
  application_type: 'native',
  error: 'invalid_request',
  err: 'invalid_request',
  error_description: 'client_id: is required.',
  user_code: '042917',
  contentType: 'image/png',
  nextCursor: null,
  defaultSandboxTemplateId: 'standard',
  sandboxTemplateId: 'standard',
  harnessVersion: '2.0.14',
  templateKey: 'dependency-updates',
  labels: 'maintenance',
  content: 'Read the release notes.',
  expires_in: 3_600,
  interval: 5,
  enabled: true,
  grantable: true,
  available: true,
  memTotalMb: 4_096,
  memUsedMb: 812,
};
const formats: Record<string, string> = {
  'date-time': '2026-11-21T09:00:00.000Z',
  uri: 'https://app.example.com/items/1',
  email: 'bob@example.com',
};

/** The hexadecimal part of every id in an example. */
const idPart = '019aa5b4c8007d3c5e7e0a524f0e9b5e';
const nouns: Record<string, Noun> = {
  user: 'person',
  createdByUser: 'person',
  invitedByUser: 'person',
  org: 'organization',
  trackerConnector: 'integration',
  scmConnector: 'integration',
  llmConnector: 'integration',
  delegation: 'registration',
  session: 'run',
};
const nounOf = (word: string): Noun | undefined => nouns[word] ?? (word in prefixes ? (word as Noun) : undefined);

/** The example of an id: `prj_019a…` for `projectId`, or for `id` of the record Project. */
function idExample(name: string, record: string): string | undefined {
  const word = name === 'id' ? record[0]?.toLowerCase() + record.slice(1) : /^(\w+?)(?:Id|_id)$/.exec(name)?.[1];
  const noun = word && nounOf(word);
  if (noun) return `${prefixes[noun]}_${idPart}`;
  return word === undefined ? undefined : `id_${idPart}`;
}

/** An example value of the schema of the member `name` in the component `record`. */
export function exampleOf(schema: Json, components: Json, name = '', record = ''): unknown {
  if (typeof schema.$ref === 'string') {
    const component = schema.$ref.split('/').at(-1)!;
    return exampleOf(components[component] as Json, components, name, component);
  }
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if ('const' in schema) return schema.const;
  const isUnion = schema.enum || schema.anyOf || schema.oneOf;
  if (name in values && !isUnion && schema.type !== 'object' && schema.type !== 'array') return values[name];
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const options = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (options) return exampleOf(options.find(({ type }) => type !== 'null')!, components, name, record);
  switch ([schema.type].flat().find((type) => type !== 'null')) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([key, property]) => [
          key,
          exampleOf(property, components, key, record),
        ]),
      );
    case 'array':
      return [exampleOf(schema.items as Json, components, name, record)];
    case 'integer':
    case 'number':
      return Math.max(1, (schema.minimum as number | undefined) ?? 1);
    case 'boolean':
      return false;
    case 'string':
      return textExample(schema, name, record);
    default:
      return {};
  }
}

function textExample({ type, format, maxLength = Number.POSITIVE_INFINITY }: Json, name: string, record: string) {
  const example = formats[format as string] ?? idExample(name, record);
  if (example === undefined && [type].flat().includes('null')) return null;
  return (example ?? 'example').slice(0, maxLength as number);
}

/** Adds an example to each body and each successful response that has a JSON schema but no example. */
export function addExamples(paths: Json, components: Json): void {
  for (const operation of Object.values(paths as Record<string, Json>).flatMap((path) => Object.values(path))) {
    const { requestBody, responses } = operation as { requestBody?: Json; responses: Record<string, Json> };
    const answers = Object.entries(responses).filter(([status]) => Number(status) < 300);
    for (const part of [requestBody, ...answers.map(([, answer]) => answer)]) {
      for (const media of Object.values((part?.content ?? {}) as Record<string, Json>)) {
        media.example ??= exampleOf(media.schema as Json, components);
      }
    }
  }
}
