// The index of errors: one anchor for each code, as a page and as Markdown. The `Link` header of every problem refers to it.
import { type Html, html } from '#foundation/http/html.ts';
import { errorsPath, problemCodes } from '#foundation/problem-codes.ts';
import { prose } from './api-page.ts';

const lead =
  'Every error of the API has one body: `category`, `title`, `description`, `retryable` and `code`. Programs test the code; ' +
  'people read the description, which names what was wrong. GraphQL has the same body in `errors[].extensions.problem`, with ' +
  '`fields`, `missingScopes` and `retryAfterSeconds` where they apply; REST has these with `Accept: application/problem+json`. The ' +
  'header `X-Request-Id` identifies the request in the log of the service.';

const codes = Object.entries(problemCodes);

export const errorsMarkdown = (): string =>
  [
    '# Errors',
    lead,
    ...codes.map(([code, { status, meaning, remedy }]) => `## ${code}\n\nHTTP ${status}. ${meaning}\n\n${remedy}`),
    '',
  ].join('\n\n');

export const errorsMenu = (): Html =>
  html`<section><h2>Codes</h2><ul>${codes.map(
    ([code]) => html`<li><a href="#${code}">${code}</a></li>`,
  )}</ul></section>`;

export const errorsBody = (): Html => html`<div class="errors"><h1>Errors</h1>
<p>${prose(lead)}</p>
<p><a href="${errorsPath}.md">This page as Markdown</a></p>
${codes.map(
  ([code, { status, meaning, remedy }]) => html`<section id="${code}" aria-labelledby="${code}-heading">
<h2 id="${code}-heading"><a href="#${code}">${code}</a> <span>HTTP ${status}</span></h2>
<p>${prose(meaning)}</p>
<p>${prose(remedy)}</p>
</section>
`,
)}</div>`;
