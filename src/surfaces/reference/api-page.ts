// The API reference as a page, written from the OpenAPI document. The page shows the description, parameters and body of each operation,
// beside an example to copy. GET operations can be tried in the page, with the session of the console or with a token.

import { addresses } from '#foundation/http/addresses.ts';
import { type Html, html } from '#foundation/http/html.ts';
import type { Json } from '#graph/projection/json-schema.ts';
import {
  type ApiDocument,
  answersOf,
  boundsOf,
  type DocumentedOperation,
  type DocumentedRoute,
  mediaOf,
  membersOf,
  type Parameter,
  recordOf,
  routesByTag,
  typeOf,
} from './document.ts';

/** Text with its `code` and [links](address) marked up. */
export const prose = (text: string): Html[] =>
  text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\))/).map((part) => {
    const link = /^\[(.+)\]\((.+)\)$/.exec(part);
    if (link) return html`<a href="${link[2]}">${link[1]}</a>`;
    return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`;
  });

const joined = (parts: Html[], separator: string): Html[] => parts.map((part, i) => html`${i > 0 && separator}${part}`);

const typeText = (schema: Json): Html[] => prose(typeOf(schema, (record) => `#${record}`));

interface Member {
  name: string;
  schema: Json;
  isRequired: boolean;
  meaning: string;
}

const memberList = (members: Member[]): Html =>
  html`<dl class="members">${members.map(
    ({ name, schema, isRequired, meaning }) => html`<div>
<dt><code>${name}</code> <span class="muted">${typeText(schema)}</span>${isRequired && html` <span class="required">required</span>`}</dt>
<dd>${prose([meaning, !meaning.includes(boundsOf(schema)) && boundsOf(schema)].filter(Boolean).join(' · '))}</dd></div>
`,
  )}</dl>`;

/** Rows for the members of a record or of each of its variants; for a schema that is not an object, its type. */
function contentOf(schema: Json): Html {
  const variants = schema.oneOf as Json[] | undefined;
  if (variants) return html`${joined(variants.map(contentOf), ' or ')}`;
  const members = membersOf(schema);
  if (members.length === 0) return html`<p>${typeText(schema)}</p>`;
  return memberList(
    members.map(([name, one, isRequired]) => ({
      name,
      schema: one,
      isRequired,
      meaning: String(one.description ?? ''),
    })),
  );
}

const parameterLists = (parameters: Parameter[]): Html[] =>
  (['path', 'query', 'header'] as const).flatMap((place) => {
    const members = parameters
      .filter((one) => one.in === place)
      .map(({ name, schema, required = false, description = '' }) => ({
        name,
        schema,
        isRequired: required,
        meaning: description,
      }));
    const heading = { path: 'Path', query: 'Query', header: 'Headers' }[place];
    return members.length > 0 ? [html`<h4>${heading}</h4>${memberList(members)}`] : [];
  });

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** A shell command for the operation, with the example values of its path and body. */
function curlOf({ method, path, operation }: DocumentedRoute, base: string): string {
  const body = mediaOf(operation.requestBody);
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${base}${path}'`,
    operation.security.length > 0 && `-H "Authorization: Bearer $TOKEN"`,
    body?.type === 'application/json' && `-H 'Content-Type: application/json'`,
    body?.example !== undefined &&
      (body.type === 'application/json'
        ? `-d '${json(body.example).replaceAll("'", "'\\''")}'`
        : `-d '${new URLSearchParams(body.example as Record<string, string>)}'`),
  ];
  return parts.filter(Boolean).join(' \\\n  ');
}

const example = (title: string, text: string, isCopied = false): Html => html`<figure>
<figcaption>${title}${isCopied && html`<button type="button" class="link copy" hidden>Copy</button>`}</figcaption>
<pre tabindex="0" aria-label="${title}">${text}</pre>
</figure>`;

function tryForm({ path, operation: { operationId, parameters = [] } }: DocumentedRoute, base: string): Html {
  const fields = parameters.filter((one) => one.in !== 'header');
  return html`<details class="try" hidden><summary>Try it</summary><form action="${new URL(base).pathname}${path}">
${fields.map(
  ({ name, in: place, required }) =>
    html`<label for="${operationId}-${name}">${name}</label><input id="${operationId}-${name}" name="${name}" class="in-${place}"${required && html` required`} autocomplete="off" spellcheck="false">`,
)}<button class="slim">Send</button><pre tabindex="0" aria-label="Answer of ${operationId}" aria-live="polite" hidden></pre></form></details>`;
}

function operationArticle(route: DocumentedRoute, { components }: ApiDocument, base: string): Html {
  const { method, path, operation } = route;
  const { operationId, summary, description: text, parameters = [], requestBody, security } = operation;
  const scope = operation['x-required-scope'];
  const { status, success, failures } = answersOf(operation);
  const [sent, answered] = [mediaOf(requestBody), mediaOf(success)];
  const bodySchema = sent?.schema.$ref ? components.schemas[recordOf(sent.schema.$ref)] : sent?.schema;
  const more = text
    .replace(summary, '')
    .replace(/ ?Requires the scope `[^`]+`\./, '')
    .replace(/^[.\s]+/, '');
  return html`<article id="${operationId}" aria-labelledby="${operationId}-heading">
<div>
<h3 id="${operationId}-heading"><a href="#${operationId}">${prose(summary)}</a></h3>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${more && html`<p>${prose(more)}</p>`}
<p class="small muted">${scope ? html`Scope <code>${scope}</code>` : security.length > 0 ? 'Any credential' : 'No credential'} · answers ${status}${
    answered && html` with ${typeText(answered.schema)}`
  } · errors ${failures.join(', ')}</p>
${parameterLists(parameters)}
${bodySchema && html`<h4>Body${sent!.schema.$ref ? html`: ${typeText(sent!.schema)}` : ''}</h4>${contentOf(bodySchema)}`}
</div>
<div class="examples">
${example('Request', curlOf(route, base), true)}
${answered?.example !== undefined && example(`Answer ${status}`, json(answered.example))}
${method === 'GET' && tryForm(route, base)}
</div>
</article>
`;
}

/** A request that the service sends: its headers and body, and how the service handles each answer. */
function webhookArticle({
  operationId,
  summary,
  description,
  parameters = [],
  ...operation
}: DocumentedOperation): Html {
  const sent = mediaOf(operation.requestBody);
  return html`<article id="${operationId}" aria-labelledby="${operationId}-heading">
<div>
<h3 id="${operationId}-heading"><a href="#${operationId}">${prose(summary)}</a></h3>
<p>${prose(description)}</p>
${parameterLists(parameters)}
${sent && html`<h4>Body: ${typeText(sent.schema)}</h4>`}
<h4>Your answer</h4><dl class="members">${Object.entries(operation.responses).map(
    ([status, { description }]) => html`<div><dt><code>${status}</code></dt><dd>${prose(description ?? '')}</dd></div>`,
  )}</dl>
</div>
<div class="examples">${sent?.example !== undefined && example('Body', json(sent.example))}</div>
</article>
`;
}

const recordArticle = ([name, schema]: [
  string,
  Json,
]): Html => html`<article id="${name}" class="record" aria-labelledby="${name}-heading">
<h3 id="${name}-heading"><a href="#${name}">${name}</a></h3>
<p>${prose(String(schema.description ?? ''))}</p>
${contentOf(schema)}
</article>
`;

/** The menu with all operations, and the body of the page. */
export function apiPage(document: ApiDocument): { menu: Html; body: Html } {
  const { info, servers, components, webhooks } = document;
  const base = servers[0]!.url;
  const groups = routesByTag(document);
  const menu = html`<label for="filter-operations">Filter</label>
<input id="filter-operations" type="search" placeholder="runs, POST, scope" autocomplete="off">
${groups.map(
  ([tag, routes]) => html`<section><h2><a href="#tag-${tag}">${tag}</a></h2><ul>${routes.map(
    ({ method, path, operation: { operationId } }) =>
      html`<li><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span><span>${path}</span></a></li>`,
  )}</ul></section>
`,
)}<section><h2><a href="#webhooks">Webhooks</a></h2><ul>${Object.entries(webhooks).map(
    ([name, { post }]) =>
      html`<li><a href="#${post.operationId}"><span class="method post">POST</span><span>${name}</span></a></li>`,
  )}</ul></section><section><h2><a href="#records">Records</a></h2></section>`;
  const body = html`<h1>API reference</h1>
<div class="intro"><p>${prose(info.description)}</p>
<dl class="facts"><dt>Base address</dt><dd><code>${base}</code></dd><dt>Description</dt><dd><a href="${base}/openapi.json">OpenAPI 3.1</a></dd>
<dt>Token</dt><dd>created in the <a href="${addresses().issuer}/console">console</a>, shown once; <code>export TOKEN=...</code> for the examples</dd></dl>
<form id="try-credential" hidden><label for="try-token">Token for <em>Try it</em></label><input id="try-token" type="password" autocomplete="off" placeholder="empty: the session of the console"></form></div>
<p id="no-match" role="status" hidden>No operation matches the filter.</p>
${groups.map(
  ([
    tag,
    routes,
  ]) => html`<section id="tag-${tag}" aria-labelledby="tag-${tag}-heading"><h2 id="tag-${tag}-heading">${tag}</h2>
${routes.map((route) => operationArticle(route, document, base))}</section>
`,
)}<section id="webhooks" aria-labelledby="webhooks-heading"><h2 id="webhooks-heading">Webhooks</h2>
${Object.values(webhooks).map(({ post }) => webhookArticle(post))}</section>
<section id="records" aria-labelledby="records-heading"><h2 id="records-heading">Records</h2>
${Object.entries(components.schemas).map(recordArticle)}</section>`;
  return { menu, body };
}
