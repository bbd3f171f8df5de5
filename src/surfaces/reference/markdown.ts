// The OpenAPI document as Markdown, for people without a browser and for models; and /llms.txt, which lists the available documents.

import { addresses } from '#foundation/http/addresses.ts';
import type { Json } from '#graph/projection/json-schema.ts';
import { type DocsPage, docsPath, isTask, linksOf } from './docs.ts';
import {
  type ApiDocument,
  answersOf,
  boundsOf,
  type Content,
  type DocumentedOperation,
  type DocumentedRoute,
  mediaOf,
  membersOf,
  routesByTag,
  typeOf,
} from './document.ts';

const anchor = (name: string): string => name.toLowerCase();
const cell = (text: unknown): string =>
  String(text ?? '')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|');

const table = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const typeText = (schema: Json): string => typeOf(schema, (record) => `#${anchor(record)}`);

const bodyOf = (part: Content | undefined): string | undefined => {
  const media = mediaOf(part);
  return media && typeText(media.schema);
};

function operationText({ method, path, operation }: DocumentedRoute) {
  const { description, parameters = [], requestBody } = operation;
  const listedParameters = parameters.filter((one) => one.in !== 'header');
  const { status, success, failures } = answersOf(operation);
  const example = mediaOf(requestBody)?.example;
  return [
    `### ${method} ${path}`,
    description,
    listedParameters.length > 0 &&
      table(
        ['Parameter', 'In', 'Type', ''],
        listedParameters.map(({ name, in: place, required, description, schema }) => [
          `\`${name}\``,
          place,
          typeText(schema),
          [required && place !== 'path' && 'Required.', description, boundsOf(schema)].filter(Boolean).join(' '),
        ]),
      ),
    requestBody && `Body: ${bodyOf(requestBody)}`,
    example !== undefined && `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    `Answers ${status}${bodyOf(success) ? ` with ${bodyOf(success)}` : ''}; errors ${failures.join(', ')}.`,
  ];
}

const webhookText = ({ summary, description, parameters = [], requestBody, responses }: DocumentedOperation) => [
  `### ${summary}`,
  description,
  table(
    ['Header', 'Type', ''],
    parameters.map(({ name, schema, description }) => [`\`${name}\``, typeText(schema), description ?? '']),
  ),
  `Body: ${bodyOf(requestBody)}`,
  `\`\`\`json\n${JSON.stringify(mediaOf(requestBody)?.example, null, 2)}\n\`\`\``,
  table(
    ['Your answer', ''],
    Object.entries(responses).map(([status, { description }]) => [status, description ?? '']),
  ),
];

function recordText(name: string, schema: Json): (string | false)[] {
  const members = membersOf(schema);
  return [
    `### ${name}`,
    String(schema.description ?? ''),
    members.length > 0 &&
      table(
        ['Member', 'Type', ''],
        members.map(([member, one, isRequired]) => [
          `\`${member}\`${isRequired ? '' : ' (optional)'}`,
          typeText(one),
          [one.description, boundsOf(one)].filter(Boolean).join(' '),
        ]),
      ),
  ];
}

export function apiMarkdown(document: ApiDocument): string {
  const { info, servers, components, webhooks } = document;
  const parts = [
    `# ${info.title}`,
    info.description,
    `Base address: ${servers[0]!.url}. Errors: ${addresses().baseHost}/reference/errors.md`,
    ...routesByTag(document).flatMap(([tag, routes]) => [`## ${tag}`, ...routes.flatMap(operationText)]),
    '## Webhooks',
    ...Object.values(webhooks).flatMap(({ post }) => webhookText(post)),
    '## Records',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => recordText(name, schema)),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

/** The text of /llms.txt, the file that models request (llmstxt.org). */
export function llmsText(docs: readonly DocsPage[]): string {
  const { baseHost, issuer, mcp, a2a } = addresses();
  return `# Agent Engineering Platform

> The control plane through which people and programs run AI agents against their projects. A mission is one piece of work that an
> agent does in a project: the service starts it, tracks its issue, and keeps its logs, costs and artifacts.

Credentials go into the \`Authorization\` header as \`Bearer <token>\`. A program without one starts at auth.md.

## Docs

- [API reference](${baseHost}/reference/api.md): every operation and record of REST, with scopes, bounds and examples
- [Errors](${baseHost}/reference/errors.md): what each error code means, and what to do
- [Agent sign-up](${issuer}/auth.md): how an agent gets a credential by itself
${linksOf(docs.filter(isTask), `${baseHost}${docsPath}`)}- [Decisions](${baseHost}${docsPath}): why it is built as it is, one page each

## Specifications

- [OpenAPI 3.1](${baseHost}/v1/openapi.json): REST at ${baseHost}/v1
- [GraphQL schema](${baseHost}/graphql/schema.graphql): GraphQL at ${baseHost}/graphql, with a token
- [Authorization server](${issuer}/.well-known/oauth-authorization-server): OAuth metadata
- [Agent card](${new URL(a2a).origin}/.well-known/agent-card.json): A2A at ${a2a}

## Optional

- MCP server: ${mcp}/mcp
- [API reference for people](${baseHost}/reference)
- [Console](${issuer}/console)
`;
}
