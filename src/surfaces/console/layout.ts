// The frame of every page, and its headers: only the service's own styles, images and scripts, no framing, no cache, and no referrer,
// because URLs of pages can contain secrets.
import { admits, type Rule } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import type { SessionInUse } from '#domain/identity/sessions/caller.ts';
import type { OwnOrganization } from '#domain/organization/organizations/operations.ts';
import { isOperator } from '#domain/organization/people/operators.ts';
import { addresses, organizationPath } from '#foundation/http/addresses.ts';
import { type Html, html, htmlText } from '#foundation/http/html.ts';
import { answer, answerHtml, type Exchange, type Headers } from '#foundation/http/http.ts';
import type { Problem } from '#foundation/problem.ts';
import { isShowingFile } from '#foundation/read-only.ts';
import { type IconName, icons } from './icons.ts';
import {
  accountAddress,
  type MenuGroup,
  menuMarkOf,
  nearestPage,
  operationsAddress,
  pageEntries,
  personPages,
} from './pages.ts';
import { files } from './style.ts';

/** The signed-in person of a page. */
export interface Visitor {
  caller: Caller;
  person: SessionInUse['person'];
  /** The organizations that the person may read, in the order of joining. */
  organizations: readonly OwnOrganization[];
  /** The visitor's organization: the organization in the URL, or else the organization that was chosen last. */
  organization: OwnOrganization | null;
  /** The field `csrf_token` of every form. */
  csrf: string;
}

/** A signed-in person on a page of one of their organizations. */
export type OrganizationVisitor = Visitor & { organization: OwnOrganization };

export interface ConsolePage {
  title: string;
  body: Html;
  /** The signed-in person, for the bar with the email address and the sign-out button. */
  visitor?: Visitor | null;
  /** Other origins to which a form of this page may redirect: the client's redirect URI. */
  formTargets?: readonly string[];
  /** Name of the passkey script, which fetches the WebAuthn options. */
  script?: 'passkey.js' | undefined;
  /**
   * Script and style of the browser application, for a page that it renders. Only such a page may call the API and show contents of
   * artifacts.
   */
  app?: { script: string; style: string };
}

const product = 'Agent Engineering Platform';

const groupNames = { work: null, organization: 'Organization', you: 'You' } as const satisfies Record<
  MenuGroup,
  unknown
>;

/** Entry of the menu: a URL, a name, and scopes of which one suffices; without scopes it is shown to every person. */
type Place = readonly [address: string, name: string, scopes?: readonly Rule[]];

/** The entries of the menu by group. Without an organization, they link to pages which say that an organization is missing. */
function placesOf({
  organization,
  person,
  caller,
}: Visitor): readonly (readonly [name: string | null, places: readonly Place[]])[] {
  const base = organization ? organizationPath(organization.slug) : '/console';
  const placesOfGroup = (group: MenuGroup): Place[] =>
    pageEntries
      .filter(([, { menu }]) => menu === group)
      .map(([address, { title, label, scopes }]) => [base + address, label ?? title!, scopes as readonly Rule[]]);
  return [
    [groupNames.work, placesOfGroup('work')],
    [groupNames.organization, placesOfGroup('organization')],
    [groupNames.you, [...placesOfGroup('you'), ...personPages]],
    ...(isOperator(person, caller) ? [['Installation', [[operationsAddress, 'Operations']]] as const] : []),
  ];
}

/** Origins of images and media: contents of artifacts are served below the API's URL. */
const media = (): string => `'self' ${new URL(addresses().baseHost).origin}`;

const pageHeaders = ({ formTargets = [], script, app }: Partial<ConsolePage> = {}, hasScript = false): Headers => ({
  'content-security-policy': [
    "default-src 'none'",
    ...(script || app || hasScript ? ["script-src 'self'"] : []),
    "style-src 'self'",
    ...(script === 'passkey.js' ? ["connect-src 'self'"] : []),
    // If a change contains images, the page reads their content and shows it with `blob:` URLs.
    ...(app ? ["connect-src 'self'", `img-src ${media()} blob:`, `media-src ${media()}`] : ["img-src 'self'"]),
    // Chromium applies `form-action` to the redirect after a form, too.
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

/** The theme that the person chose in this browser; null for the theme of the system. */
const themeOf = ({ req }: Exchange): string | null =>
  /(?:^|; )theme=(light|dark)/.exec(req.headers.cookie ?? '')?.[1] ?? null;

export async function answerPage(
  exchange: Exchange,
  status: number,
  page: ConsolePage,
  headers: Headers = {},
): Promise<void> {
  const menu = page.visitor ? menuOf(page.visitor, exchange.path) : null;
  const text = htmlText(frame(page, menu, await files.addresses(), themeOf(exchange)));
  answerHtml(exchange, status, text, { ...pageHeaders(page, menu?.hasScript), ...headers });
}

/** Redirects to a page after a form (303). */
export const seeOther = (exchange: Exchange, location: string): void =>
  answer(exchange, 303, undefined, { ...pageHeaders(), location });

/** Answers with the page of an error: its description, and a link to continue. */
export function answerProblemPage(exchange: Exchange, problem: Problem, visitor: Visitor | null = null): Promise<void> {
  const { description } = problem.body;
  // People understand "Sign-in failed" better than the title Unauthenticated.
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

function frame(
  { title, body, visitor, script, app }: ConsolePage,
  menu: Menu | null,
  addresses: Addresses,
  theme: string | null,
): Html {
  return html`<!doctype html>
<html lang="en"${theme && html` data-theme="${theme}"`}>
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
${isShowingFile() && html`<span class="tag">read-only</span>`}
${app && html`<button type="button" class="quiet palette-button" aria-keyshortcuts="Control+K Meta+K" hidden>${icon('search')}<span>Search</span> <kbd>Ctrl K</kbd></button><button type="button" class="quiet help-button" aria-label="Shortcuts" aria-keyshortcuts="?" hidden>?</button>`}
${menu?.hasScript && html`<button type="button" class="quiet menu-button" aria-expanded="false" aria-controls="menu">Menu</button>`}
</header>
${menu && navigation(menu)}
<main id="content" class="${app ? 'application' : visitor ? 'wide' : 'narrow'}">
${body}
</main>
</body>
</html>
`;
}

/** Data of the menu on a signed-in person's page. */
interface Menu {
  visitor: Visitor;
  path: string;
  /** Whether the page runs scripts. A page on which a person grants access does not, and therefore has no menu on a phone. */
  hasScript: boolean;
}

const menuOf = (visitor: Visitor, path: string): Menu => ({
  visitor,
  path,
  hasScript: !/^\/(oauth|claim|v1)\b/.test(path),
});

/** The current organization, and links to the same page of the other organizations; the application updates them. */
function switcher({ visitor: { organization, organizations }, path }: Menu): Html | null {
  if (!organization) return null;
  const base = organizationPath(organization.slug);
  const page = nearestPage(path.startsWith(base) ? path.slice(base.length) : '');
  return html`<details class="switcher"><summary><span class="unseen">Organization: </span><bdi>${organization.name}</bdi></summary>
<div class="choices-list">${organizations.map(
    ({ id, name, slug }) =>
      id !== organization.id &&
      html`<a href="${organizationPath(slug)}${page}" data-base="${organizationPath(slug)}"><span class="unseen">Switch to </span><bdi>${name}</bdi></a>`,
  )}<a class="more" href="${accountAddress}">All organizations</a></div></details>`;
}

const personBar = (visitor: Visitor) => html`<div class="person">
<span class="muted small">${visitor.person.email}</span>
<label class="theme" hidden><span class="unseen">Theme</span><select><option value="">System theme</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
<form method="post" action="/sign-out">${csrfField(visitor)}<button class="quiet">Sign out</button></form>
</div>`;

/** The icon of a page, by the last part of its URL. */
const icon = (address: string): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${icons[address.slice(address.lastIndexOf('/') + 1) as IconName]}"/></svg>`;

const navigation = ({ visitor, path }: Menu): Html => html`<div class="menu" id="menu"><div>
<nav aria-label="Console">${placesOf(visitor).map(
  ([name, places]) =>
    html`${name && html`<h2>${name}</h2>`}<ul>${places.map(([address, label, rules]) => {
      if (visitor.organization && rules?.every((rule) => !admits(visitor.caller, rule))) return null;
      const mark = menuMarkOf(path, address);
      return html`<li><a href="${address}"${mark && html` aria-current="${mark}"`}>${icon(address)}${label}</a></li>`;
    })}</ul>`,
)}<h2>Developers</h2><ul><li><a href="/reference">${icon('/reference')}API reference</a></li><li><a href="/graphql">${icon('/graphql')}GraphiQL</a></li></ul></nav>
${personBar(visitor)}
</div></div>`;

/** The hidden field in every form of a signed-in person. */
export const csrfField = ({ csrf }: Visitor): Html => html`<input type="hidden" name="csrf_token" value="${csrf}">`;

/** The error of a form, announced by screen readers as soon as the page is loaded. */
export const formError = (message: string | null | undefined): Html | null =>
  message ? html`<p class="note error" role="alert" id="form-error">${message}</p>` : null;

/** The empty state of an organization's pages for a person without an organization. */
export function answerWithoutOrganization(exchange: Exchange, visitor: Visitor): Promise<void> {
  const place = placesOf(visitor)
    .flatMap(([, places]) => places)
    .find(([address]) => menuMarkOf(exchange.path, address));
  const title = place?.[1] ?? product;
  const body = html`<h1>${title}</h1>
  <section class="card">
    <h2>You belong to no organization yet</h2>
    <p>Projects, missions and credentials belong to an organization. Create one, or accept an invitation.</p>
    <p><a class="button" href="${accountAddress}">Create organization</a></p>
  </section>`;
  return answerPage(exchange, 200, { title, body, visitor });
}
