// GraphiQL at GET /graphql: a page for trying queries, whose files all come from this server. The page contains no data; its requests need a
// credential like any other.
import { assets } from '#foundation/http/assets.ts';
import { html, htmlText } from '#foundation/http/html.ts';
import { answerPublicHtml, type Exchange } from '#foundation/http/http.ts';
import { exampleQueries } from './example-queries.ts';

const base = '/graphql/page';

const script = 'text/javascript; charset=utf-8';

const files = assets(base, async () => {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  return {
    'graphiql.css': { type: 'text/css; charset=utf-8', content: graphiql.css },
    'graphiql.js': { type: script, content: graphiql.js },
    'editor-worker.js': { type: script, content: graphiql.editorWorkerService },
    'json-worker.js': { type: script, content: graphiql.jsonWorker },
    'graphql-worker.js': { type: script, content: graphiql.graphqlWorker },
    'start.js': { type: script, content: start },
  };
});

// The editor asks for the URL of each of its workers by a label. The URLs are on this server, whereas yoga's own page creates workers from
// blobs. Headers are not stored in the browser, because they may contain tokens. Queries use GET, which needs no CSRF header with a
// session's cookie; a mutation needs the header `X-CSRF-Token`, which the person enters under Headers. A link with a query opens only that
// query.
const start = `
const root = document.getElementById('root');
const workers = { editorWorkerService: root.dataset.editorWorker, json: root.dataset.jsonWorker, graphql: root.dataset.graphqlWorker };
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workers[label] };
document.addEventListener('DOMContentLoaded', () => {
  YogaGraphiQL.renderYogaGraphiQL(root, {
    title: 'GraphQL',
    credentials: 'same-origin',
    useGETForQueries: true,
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: 'headers',
    ...(new URLSearchParams(location.search).has('query') ? {} : { defaultTabs: ${JSON.stringify(exampleQueries)} }),
  });
});
`;

// The editor writes its own style elements; scripts come from this server only.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export async function answerGraphiql(exchange: Exchange): Promise<void> {
  const at = await files.addresses();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${at['graphiql.css']}">
<script defer src="${at['start.js']}"></script>
<script defer src="${at['graphiql.js']}"></script>
</head>
<body id="body" class="no-focus-outline">
<noscript>This page needs JavaScript.</noscript>
<div id="root" data-editor-worker="${at['editor-worker.js']}" data-json-worker="${at['json-worker.js']}" data-graphql-worker="${at['graphql-worker.js']}"></div>
</body>
</html>
`;
  answerPublicHtml(exchange, htmlText(page), policy);
}

/** Sends a file of the page; returns false for any other path. */
export async function answerPageFile(exchange: Exchange): Promise<boolean> {
  return exchange.path.startsWith(`${base}/`) && files.answer(exchange, exchange.path.slice(base.length + 1));
}
