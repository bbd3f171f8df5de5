// The frame of every page, and its headers: only our own styles, images and scripts, no framing, no cache, and no referrer, since
// addresses of pages can carry secrets.
import type { Caller } from '#access/principal.ts';
import type { Scope } from '#access/scopes.ts';
import type { SessionInUse } from '#domain/identity/sessions/operations.ts';
import { type OwnOrganization, organizationsOf } from '#domain/organization/organizations/operations.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { type Html, html, htmlText } from '#foundation/http/html.ts';
import { answer, answerHtml, type Exchange, type Headers } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';
import { files } from './style.ts';

/** The signed-in person whom a page is for. */
export interface Visitor {
  caller: Caller;
  person: SessionInUse['person'];
  /** Stands in every form as `csrf_token`. */
  csrf: string;
}

export interface Page {
  title: string;
  body: Html;
  /** The signed-in person: the bar shows their email and the sign-out button. */
  visitor?: Visitor | null;
  /** Other origins that a form of this page may lead to: that of a client's redirect address. */
  formTargets?: readonly string[];
  /** The passkey script, which fetches the WebAuthn options. */
  script?: 'passkey.js' | undefined;
  /** The addresses of the files of a page that the browser renders. It may call the API and show contents of artifacts. */
  app?: { script: string; style: string };
}

const product = 'Agent Engineering Platform';

type Place = readonly [address: string, name: string, scope?: Scope];

/** The pages of a signed-in person in their groups, and the scope without which one is not listed. */
const groups: readonly { name?: string; places: readonly Place[] }[] = [
  {
    places: [
      ['/console/overview', 'Overview'],
      ['/console/projects', 'Projects'],
      ['/console/runs', 'Missions'],
      ['/console/agents', 'Agents'],
      ['/console/artifacts', 'Artifacts'],
      ['/console/issues', 'Issues'],
    ],
  },
  {
    name: 'Organization',
    places: [
      ['/console/members', 'Members'],
      ['/console/integrations', 'Integrations'],
      ['/console/mcp', 'MCP servers'],
      ['/console/billing', 'Billing', 'missions:run'],
      ['/console/settings', 'Settings'],
    ],
  },
  {
    name: 'You',
    places: [
      ['/console/tokens', 'Tokens'],
      ['/console/connected-agents', 'Connected agents'],
      ['/console/notifications', 'Notifications'],
      ['/console/sessions', 'Sessions'],
      ['/console/passkeys', 'Passkeys'],
      ['/console/account', 'Account'],
    ],
  },
];
const places = groups.flatMap((group) => group.places);

/** Contents of artifacts are served below the API's address. */
const media = (): string => `'self' ${new URL(addresses().baseHost).origin}`;

const pageHeaders = ({ formTargets = [], script, app }: Partial<Page> = {}, hasScript = false): Headers => ({
  'content-security-policy': [
    "default-src 'none'",
    ...(script || app || hasScript ? ["script-src 'self'"] : []),
    "style-src 'self'",
    ...(script === 'passkey.js' ? ["connect-src 'self'"] : []),
    ...(app ? ["connect-src 'self'", `img-src ${media()}`, `media-src ${media()}`] : ["img-src 'self'"]),
    // Chromium holds the redirect after a form to this as well.
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

export async function answerPage(exchange: Exchange, status: number, page: Page, headers: Headers = {}): Promise<void> {
  const menu = page.visitor ? await menuOf(page.visitor, exchange.path) : null;
  const text = htmlText(frame(page, menu, await files.addresses()));
  answerHtml(exchange, status, text, { ...pageHeaders(page, menu?.hasScript), ...headers });
}

/** Redirects to a page after a form (303). */
export const seeOther = (exchange: Exchange, location: string): void =>
  answer(exchange, 303, undefined, { ...pageHeaders(), location });

/** The page of an error: what happened, and a link to continue. */
export function answerProblemPage(exchange: Exchange, problem: Problem, visitor: Visitor | null = null): Promise<void> {
  const { description } = problem.body;
  // The title Unauthenticated is not plain English.
  const title = problem.status === 401 ? 'Sign-in failed' : problem.body.title;
  const body = html`<section class="card">
    <h1>${title}</h1>
    <p>${description}</p>
    <p class="muted small">Request <code>${exchange.requestId}</code></p>
    <p><a class="button quiet" href="/console">Go to the console</a></p>
  </section>`;
  return answerPage(exchange, problem.status, { title, body, visitor }, { ...problem.headers });
}

type Addresses = Awaited<ReturnType<typeof files.addresses>>;

function frame({ title, body, visitor, script, app }: Page, menu: Menu | null, addresses: Addresses): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · ${product}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${addresses['icon.svg']}" type="image/svg+xml">
<link rel="stylesheet" href="${addresses['style.css']}">
${menu?.hasScript && html`<script defer src="${addresses['console.js']}"></script>`}
${script && html`<script defer src="${addresses[script]}"></script>`}
${app && html`<link rel="stylesheet" href="${app.style}"><script type="module" src="${app.script}"></script>`}
</head>
<body${menu && html` class="console"`}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="/console"><img src="${addresses['icon.svg']}" alt="" width="28" height="28"><span>${product}</span></a>
${menu && switcher(menu)}
${app && html`<button type="button" class="quiet palette-button" aria-keyshortcuts="Control+K Meta+K" hidden>Search <kbd>Ctrl K</kbd></button>`}
${menu?.hasScript && html`<button type="button" class="quiet menu-button" aria-expanded="false" aria-controls="menu">Menu</button>`}
</header>
${menu && navigation(menu)}
<main id="content" class="${app ? 'dashboard' : visitor ? 'wide' : 'narrow'}">
${body}
</main>
</body>
</html>
`;
}

/** What the frame of a signed-in person's page shows. */
interface Menu {
  visitor: Visitor;
  organizations: OwnOrganization[];
  marked: Marked | undefined;
  /** Not where a person grants access: those pages run no script at all, and have no menu on a phone. */
  hasScript: boolean;
}

const menuOf = async (visitor: Visitor, path: string): Promise<Menu> => ({
  visitor,
  organizations: await organizationsOf(visitor.person.id),
  marked: markedPlace(path),
  hasScript: !/^\/(oauth|claim|v1)\b/.test(path),
});

/** The current organization, and a button for each other one. */
function switcher({ visitor, organizations }: Menu): Html | null {
  const current = organizations.find(({ id }) => id === visitor.caller.orgId);
  if (!current) return null;
  return html`<details class="switcher"><summary><span class="unseen">Organization: </span><bdi>${current.name}</bdi></summary>
<div class="choices-list">${organizations.map(
    ({ id, name }) =>
      id !== current.id &&
      html`<form method="post" action="/console/organization">${csrfField(visitor)}<input type="hidden" name="org_id" value="${id}">
<button class="quiet"><span class="unseen">Switch to </span><bdi>${name}</bdi></button></form>`,
  )}<a href="/console/account">All organizations</a></div></details>`;
}

const personBar = (visitor: Visitor) => html`<div class="person">
<span class="muted small">${visitor.person.email}</span>
<form method="post" action="/sign-out">${csrfField(visitor)}<button class="quiet">Sign out</button></form>
</div>`;

interface Marked {
  address: string;
  current: 'page' | 'true';
}

/** The page itself is marked, and the list is marked on what belongs to it: the answer to one of its forms. */
function markedPlace(path: string): Marked | undefined {
  const address = places.map(([place]) => place).find((place) => isWithin(path, place));
  return address === undefined ? undefined : { address, current: path === address ? 'page' : 'true' };
}

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

const navigation = ({ visitor, marked }: Menu): Html => html`<div class="menu" id="menu"><div>
<nav aria-label="Console">${groups.map(
  ({ name, places }) =>
    html`${name && html`<h2>${name}</h2>`}<ul>${places.map(([address, label, scope]) => {
      if (scope && !visitor.caller.scopes.has(scope)) return null;
      const current = marked?.address === address && marked.current;
      return html`<li><a href="${address}"${current && html` aria-current="${current}"`}>${label}</a></li>`;
    })}</ul>`,
)}<h2>Developers</h2><ul><li><a href="/reference">API reference</a></li><li><a href="/graphql">GraphiQL</a></li></ul></nav>
${personBar(visitor)}
</div></div>`;

/** Stands in every form of a signed-in person. */
export const csrfField = ({ csrf }: Visitor): Html => html`<input type="hidden" name="csrf_token" value="${csrf}">`;

/** What went wrong with a form, read out by screen readers as soon as the page is there. */
export const formError = (message: string | null | undefined): Html | null =>
  message ? html`<p class="note error" role="alert" id="form-error">${message}</p>` : null;

/** The empty state of an organization's pages for a person without an organization. */
export function answerWithoutOrganization(exchange: Exchange, visitor: Visitor): Promise<void> {
  const marked = markedPlace(exchange.path)?.address;
  const title = places.find(([address]) => address === marked)?.[1] ?? product;
  const body = html`<h1>${title}</h1>
  <section class="card">
    <h2>You belong to no organization yet</h2>
    <p>Projects, missions and credentials belong to an organization. Create one, or accept an invitation.</p>
    <p><a class="button" href="/console/account">Create organization</a></p>
  </section>`;
  return answerPage(exchange, 200, { title, body, visitor });
}
