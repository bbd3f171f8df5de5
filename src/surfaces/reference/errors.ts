// The index of errors: one anchor for each code, as a page and as Markdown. The `Link` header of every problem refers to it.
import { addresses } from '#foundation/http/addresses.ts';
import { type Html, html } from '#foundation/http/html.ts';
import { problemCodes } from '#foundation/problem-codes.ts';

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

/** Text with its `code` marked up. */
const prose = (text: string): Html[] =>
  text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

export const errorsBody = (): Html => html`<main>
<nav aria-label="Reference"><a href="${addresses().issuer}/console">Console</a> · <a href="/reference">API reference</a> · <a href="/reference/errors.md">This page as Markdown</a></nav>
<h1>Errors</h1>
<p>${prose(lead)}</p>
<ul class="index">${codes.map(([code]) => html`<li><a href="#${code}">${code}</a></li>`)}</ul>
${codes.map(
  ([code, { status, meaning, remedy }]) => html`<section id="${code}" aria-labelledby="${code}-heading">
<h2 id="${code}-heading"><a href="#${code}">${code}</a> <span>HTTP ${status}</span></h2>
<p>${prose(meaning)}</p>
<p>${prose(remedy)}</p>
</section>
`,
)}</main>`;

export const errorsStyle = `
:root { color-scheme: light dark; }
body { margin: 0; font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: CanvasText; background: Canvas; }
main { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.75rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; font-family: ui-monospace, Menlo, Consolas, monospace; }
h2 a { color: inherit; text-decoration: none; }
h2 a:hover { text-decoration: underline; }
h2 span { font: .875rem system-ui, sans-serif; }
section { scroll-margin-top: 1rem; }
section:target { outline: 2px solid LinkText; outline-offset: .75rem; border-radius: .25rem; }
p { margin: 0 0 .5rem; }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9375em; overflow-wrap: anywhere; }
.index { columns: 14rem; padding: 0; list-style: none; }
.index a { display: inline-block; padding: .125rem 0; }
:focus-visible { outline: 3px solid LinkText; outline-offset: 2px; }
`;
