// The API reference at GET /reference: Swagger UI over /v1/openapi.json. All files come from this server; no credential is needed,
// because the page shows the specification and no data.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { assets } from '#foundation/assets.ts';
import { html, htmlText } from '#foundation/html.ts';
import { answerHtml, type Exchange } from '#foundation/http.ts';
import { notFound } from '#foundation/problem.ts';
import { allowMethods, framed, type Report } from '../frame.ts';

const base = '/reference';

const script = 'text/javascript; charset=utf-8';

// The validator's badge would send the document to another server.
const start = `
window.addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({ url: '/v1/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });
});
`;

const files = assets(base, async () => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return {
    'swagger-ui.css': { type: 'text/css; charset=utf-8', content: await readFile(join(folder, 'swagger-ui.css')) },
    'swagger-ui.js': { type: script, content: await readFile(join(folder, 'swagger-ui-bundle.js')) },
    'start.js': { type: script, content: start },
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

export function createReference({ report }: { report: Report }) {
  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = base;
    allowMethods(exchange, 'GET', 'HEAD');
    if (exchange.path === base) return answerPage(exchange);
    if (!(await files.answer(exchange, exchange.path.slice(base.length + 1)))) throw notFound('path');
  }
  const owns = (path: string) => path === base || path.startsWith(`${base}/`);
  return { name: 'reference', owns, handle: framed(handle, { report }) };
}

async function answerPage(exchange: Exchange): Promise<void> {
  const at = await files.addresses();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${at['swagger-ui.css']}">
<script defer src="${at['swagger-ui.js']}"></script>
<script defer src="${at['start.js']}"></script>
</head>
<body>
<noscript>This page needs JavaScript. The document it shows is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
<div id="reference"></div>
</body>
</html>
`;
  answerHtml(exchange, 200, htmlText(page), {
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
    'cache-control': 'no-cache',
  });
}
