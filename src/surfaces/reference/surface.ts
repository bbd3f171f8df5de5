// The API reference: Swagger UI over /v1/openapi.json at /reference, the index of errors, both as Markdown, the docs, and /llms.txt. All
// files are served from here; no credential is needed, because the pages show the API and no data.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { addresses } from '#foundation/http/addresses.ts';
import { assets } from '#foundation/http/assets.ts';
import { type Html, html, htmlText } from '#foundation/http/html.ts';
import { answer, answerPublicHtml, type Exchange } from '#foundation/http/http.ts';
import { notFound } from '#foundation/problem.ts';
import { errorsPath } from '#foundation/problem-codes.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { docsIndex, docsPath, readDocs } from './docs.ts';
import { errorsBody, errorsMarkdown, errorsStyle } from './errors.ts';
import { apiMarkdown, llmsText } from './markdown.ts';

const base = '/reference';
const llmsPath = '/llms.txt';

const script = 'text/javascript; charset=utf-8';

// The validator's badge would send the document to another server.
const start = `
window.addEventListener('DOMContentLoaded', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  SwaggerUIBundle({ url: '/v1/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none', filter: true, validatorUrl: null });
});
`;

const referenceStyle = `
nav { max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; font: 1rem system-ui, sans-serif; }
nav a { color: #2439ab; }
.dark-mode nav a { color: #b3c0ff; }
`;

const files = assets(base, async () => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return {
    'swagger-ui.css': { type: 'text/css; charset=utf-8', content: await readFile(join(folder, 'swagger-ui.css')) },
    'swagger-ui.js': { type: script, content: await readFile(join(folder, 'swagger-ui-bundle.js')) },
    'start.js': { type: script, content: start },
    'reference.css': { type: 'text/css; charset=utf-8', content: referenceStyle },
    'errors.css': { type: 'text/css; charset=utf-8', content: errorsStyle },
  };
});

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface ReferenceSettings {
  report: Report;
  /** The OpenAPI document as served. */
  document(): string;
}

export function createReference({ report, document }: ReferenceSettings) {
  let api: string | undefined;
  const docs = readDocs();
  const texts: Record<string, () => string> = {
    [llmsPath]: () => llmsText(docs),
    [docsPath]: () => docsIndex(docs),
    ...Object.fromEntries(docs.map(({ name, text }) => [`${docsPath}/${name}`, () => text])),
    [`${errorsPath}.md`]: errorsMarkdown,
    [`${base}/api.md`]: () => {
      api ??= apiMarkdown(JSON.parse(document()));
      return api;
    },
  };
  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = base;
    allowMethods(exchange, 'GET', 'HEAD');
    if (exchange.path === base) return answerReference(exchange);
    if (exchange.path === errorsPath) return answerErrors(exchange);
    const text = Object.hasOwn(texts, exchange.path) && texts[exchange.path];
    if (text) return answerText(exchange, text());
    if (!(await files.answer(exchange, exchange.path.slice(base.length + 1)))) throw notFound('path');
  }
  const owns = (path: string) => path === base || path.startsWith(`${base}/`) || path === llmsPath;
  return { name: 'reference', owns, handle: framed(handle, { report }) };
}

const answerText = (exchange: Exchange, text: string): void =>
  answer(exchange, 200, text, {
    'content-type': `text/${exchange.path === llmsPath ? 'plain' : 'markdown'}; charset=utf-8`,
    'cache-control': 'public, max-age=300',
  });

async function answerReference(exchange: Exchange): Promise<void> {
  const at = await files.addresses();
  answerPage(
    exchange,
    'API reference',
    html`<link rel="stylesheet" href="${at['swagger-ui.css']}">
<link rel="stylesheet" href="${at['reference.css']}">
<script defer src="${at['swagger-ui.js']}"></script>
<script defer src="${at['start.js']}"></script>`,
    html`<nav aria-label="Pages"><a href="${addresses().issuer}/console">Console</a> · <a href="${base}/errors">Errors</a> · <a href="${base}/docs">Documentation</a></nav>
<noscript>This page needs JavaScript. <a href="${base}/api.md">The same as Markdown</a>.</noscript>
<div id="reference"></div>`,
  );
}

async function answerErrors(exchange: Exchange): Promise<void> {
  const at = await files.addresses();
  answerPage(exchange, 'Errors', html`<link rel="stylesheet" href="${at['errors.css']}">`, errorsBody());
}

function answerPage(exchange: Exchange, title: string, head: Html, body: Html): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
${body}
</body>
</html>
`;
  answerPublicHtml(exchange, htmlText(page), policy);
}
