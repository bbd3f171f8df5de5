// The API reference at /reference and the index of errors, both also as Markdown, the docs, and /llms.txt. All files are served from here;
// no credential is needed, because the pages show the API and no data.
import { addresses } from '#foundation/http/addresses.ts';
import { type AssetSource, assets } from '#foundation/http/assets.ts';
import { type Html, html, htmlText } from '#foundation/http/html.ts';
import { answer, type Exchange } from '#foundation/http/http.ts';
import { notFound } from '#foundation/problem.ts';
import { errorsPath } from '#foundation/problem-codes.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { apiPage } from './api-page.ts';
import { docsIndex, docsPath, readDocs } from './docs.ts';
import type { ApiDocument } from './document.ts';
import { errorsBody, errorsMarkdown, errorsMenu } from './errors.ts';
import { referenceFiles } from './files.ts';
import { apiMarkdown, llmsText } from './markdown.ts';

const base = '/reference';
const llmsPath = '/llms.txt';

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
  /** The OpenAPI document that the REST surface serves. */
  document(): string;
}

export function createReference({ report, document }: ReferenceSettings) {
  const read = (): ApiDocument => JSON.parse(document());
  let markdown: string | undefined;
  const docs = readDocs();
  const texts: Record<string, () => string> = {
    [llmsPath]: () => llmsText(docs),
    [docsPath]: () => docsIndex(docs),
    ...Object.fromEntries(docs.map(({ name, text }) => [`${docsPath}/${name}`, () => text])),
    [`${errorsPath}.md`]: errorsMarkdown,
    [`${base}/api.md`]: () => {
      markdown ??= apiMarkdown(read());
      return markdown;
    },
  };
  const pages = assets('', async () => ({
    [base]: await pageOf('API reference', apiPage(read())),
    [errorsPath]: await pageOf('Errors', { menu: errorsMenu(), body: errorsBody() }),
  }));
  async function handle(exchange: Exchange): Promise<void> {
    exchange.route = base;
    allowMethods(exchange, 'GET', 'HEAD');
    const headers = { 'content-security-policy': policy, 'referrer-policy': 'same-origin' };
    if (await pages.answer(exchange, exchange.path, headers)) return;
    const text = Object.hasOwn(texts, exchange.path) && texts[exchange.path];
    if (text) return answerText(exchange, text());
    if (!(await referenceFiles.answer(exchange, exchange.path.slice(base.length + 1)))) throw notFound('path');
  }
  const owns = (path: string) => path === base || path.startsWith(`${base}/`) || path === llmsPath;
  return { name: 'reference', owns, handle: framed(handle, { report }) };
}

const answerText = (exchange: Exchange, text: string): void =>
  answer(exchange, 200, text, {
    'content-type': `text/${exchange.path === llmsPath ? 'plain' : 'markdown'}; charset=utf-8`,
    'cache-control': 'public, max-age=300',
  });

const links = [
  [base, 'API reference'],
  [errorsPath, 'Errors'],
  [docsPath, 'Docs'],
  [`${base}/api.md`, 'Markdown'],
] as const;

async function pageOf(title: string, { menu, body }: { menu: Html; body: Html }): Promise<AssetSource> {
  const at = await referenceFiles.addresses();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${at['icon.svg']}">
<link rel="stylesheet" href="${at['style.css']}">
<link rel="stylesheet" href="${at['reference.css']}">
${title === links[0][1] && html`<script defer src="${at['reference.js']}"></script>`}
</head>
<body class="console reference">
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="${addresses().issuer}/console"><img src="${at['icon.svg']}" alt="" width="28" height="28"><span>Agent Engineering Platform</span></a>
<nav aria-label="Pages"><a href="${addresses().issuer}/console">Console</a>${links.map(
    ([address, name]) => html`<a href="${address}"${name === title && html` aria-current="page"`}>${name}</a>`,
  )}</nav>
</header>
<nav class="menu" aria-label="Contents"><div>${menu}</div></nav>
<main id="content">
${body}
</main>
</body>
</html>
`;
  return { type: 'text/html; charset=utf-8', content: htmlText(page) };
}
