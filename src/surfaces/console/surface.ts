// The console: pages for people. This file lists all paths of the console; errors are also pages.
import { callbackPath, clientPath } from '#domain/execution/mcp-servers/authorization.ts';
import { sharedBase } from '#domain/work/replays/operations.ts';
import { ownCell } from '#foundation/http/cells.ts';
import type { Exchange, Handler } from '#foundation/http/http.ts';
import { notFound, type Problem } from '#foundation/problem.ts';
import { allowMethods, framed, type Report } from '../frame.ts';
import { answerApplicationFile, applicationBase } from './application.ts';
import { cellSignInPaths, finishCellSignIn, startCellSignIn, switchPerson, vouchForCell } from './cell-sign-in.ts';
import { decideClaim, showClaim } from './claim.ts';
import { createConsent } from './consent.ts';
import {
  acceptOwnInvite,
  acceptOwnOffer,
  changeOwnName,
  createOwnOrganization,
  showAccount,
  showHome,
} from './home.ts';
import { answerProblemPage, seeOther } from './layout.ts';
import { showMailbox } from './mailbox.ts';
import { showMcpCallback, showMcpClient } from './mcp-callback.ts';
import { showOperations } from './operations.ts';
import { findOrganizationPage } from './organization-pages.ts';
import { accountAddress, operationsAddress } from './pages.ts';
import {
  answerCreationOptions,
  createOwnPasskey,
  passkeysAddress,
  removeOwnPasskey,
  showPasskeys,
  skipPasskeyOffer,
} from './passkeys.ts';
import { endOwnOtherSessions, endOwnSession, showSessions } from './sessions.ts';
import { showShared } from './shared.ts';
import { answerPasskeyOptions, createSignIn, enterCode, signOut, upstreamPaths } from './sign-in.ts';
import { enterLink, showLink } from './sign-in-link.ts';
import { findSsoPage } from './sso.ts';
import { files } from './style.ts';
import type { UpstreamSettings } from './upstream.ts';
import { visitorOf } from './visitor.ts';

export interface ConsoleSettings {
  report: Report;
  /** The operator's OpenID provider, if configured. */
  upstreamSignIn?: UpstreamSettings | null;
}

/** Pattern of the URL of a shared mission. A URL without a well-formed token is an unknown page. */
const isShared = new RegExp(`^${sharedBase}shr_[\\w-]{43}$`);

type Methods = Partial<Record<'GET' | 'POST', Handler>>;

/** Reloading a form result, or opening its URL, redirects to the page of the form. */
const back =
  (address: string): Handler =>
  (exchange) =>
    seeOther(exchange, address);

/**
 * The pages and forms by their URL.
 * @param issuer The operator's OpenID provider; null when there is none.
 */
function pagesOf(issuer: string | null): Map<string, Methods> {
  const { showSignIn, sendCode, enterPasskey } = createSignIn(issuer);
  const { showConsent, decideConsent } = createConsent();
  return new Map<string, Methods>([
    ['/console/style.css', { GET: async (exchange) => void (await files.answer(exchange, 'style.css')) }],
    ['/console/passkey.js', { GET: async (exchange) => void (await files.answer(exchange, 'passkey.js')) }],
    ['/console/console.js', { GET: async (exchange) => void (await files.answer(exchange, 'console.js')) }],
    ['/console/icon.svg', { GET: async (exchange) => void (await files.answer(exchange, 'icon.svg')) }],
    ['/sign-in', { GET: showSignIn, POST: sendCode }],
    ['/sign-in/code', { POST: enterCode }],
    ['/sign-in/passkey', { GET: back('/sign-in'), POST: enterPasskey }],
    ['/sign-in/passkey/options', { POST: answerPasskeyOptions }],
    ['/sign-in/link', { GET: showLink, POST: enterLink }],
    ['/sign-out', { POST: signOut }],
    ['/', { GET: back('/console') }],
    ['/console', { GET: showHome }],
    [accountAddress, { GET: showAccount }],
    ['/console/organizations', { POST: createOwnOrganization }],
    ['/console/invites/accept', { POST: acceptOwnInvite }],
    ['/console/directory/accept', { POST: acceptOwnOffer }],
    ['/console/name', { POST: changeOwnName }],
    [callbackPath, { GET: showMcpCallback }],
    [clientPath, { GET: showMcpClient }],
    [operationsAddress, { GET: showOperations }],
    ['/console/sessions', { GET: showSessions }],
    ['/console/sessions/end', { GET: back('/console/sessions'), POST: endOwnSession }],
    ['/console/sessions/end-others', { GET: back('/console/sessions'), POST: endOwnOtherSessions }],
    [passkeysAddress, { GET: showPasskeys, POST: createOwnPasskey }],
    [`${passkeysAddress}/options`, { POST: answerCreationOptions }],
    [`${passkeysAddress}/remove`, { GET: back(passkeysAddress), POST: removeOwnPasskey }],
    [`${passkeysAddress}/skip`, { GET: back('/console'), POST: skipPasskeyOffer }],
    ['/oauth/authorize', { GET: showConsent, POST: decideConsent }],
    ['/claim', { GET: showClaim }],
    ['/claim/complete', { POST: decideClaim }],
    // auth.md specifies this path for the form, in addition to the path in the console.
    ['/v1/agent/identity/claim/complete', { POST: decideClaim }],
    ['/development/mailbox', { GET: showMailbox }],
  ]);
}

export function createConsole({ report, upstreamSignIn = null }: ConsoleSettings) {
  const pages = pagesOf(upstreamSignIn?.issuer ?? null);
  if (upstreamSignIn) {
    const upstream = import('./upstream.ts').then(({ createUpstream }) => createUpstream(upstreamSignIn));
    pages.set(upstreamPaths.start, { GET: async (exchange) => (await upstream).startSignIn(exchange) });
    pages.set(upstreamPaths.return, { GET: async (exchange) => (await upstream).finishSignIn(exchange) });
  }

  if (ownCell() !== null) {
    pages.set(cellSignInPaths.start, { GET: startCellSignIn, POST: switchPerson });
    pages.set(cellSignInPaths.vouch, { GET: vouchForCell });
    pages.set(cellSignInPaths.return, { GET: finishCellSignIn });
  }

  const showApplicationFile: Handler = async (exchange) => {
    if (!(await answerApplicationFile(exchange))) throw notFound('file');
  };

  const find = (path: string): [route: string, page: Methods] | undefined => {
    const page = pages.get(path);
    if (page) return [path, page];
    if (path.startsWith(applicationBase)) return [`${applicationBase}{file}`, { GET: showApplicationFile }];
    const sso = findSsoPage(path);
    if (sso) return sso;
    if (isShared.test(path)) return [`${sharedBase}{token}`, { GET: showShared }];
    return findOrganizationPage(path);
  };

  async function handle(exchange: Exchange): Promise<void> {
    const [route, page] = find(exchange.path)!;
    exchange.route = route;
    allowMethods(exchange, ...Object.keys(page), ...(page.GET ? ['HEAD'] : []));
    const method = exchange.req.method === 'HEAD' ? 'GET' : exchange.req.method;
    await page[method as keyof Methods]!(exchange);
  }

  return {
    name: 'console',
    owns: (path: string) => find(path) !== undefined,
    handle: framed(handle, { report, refuse: answerProblem }),
    /** Answers with the 404 page, for browsers. */
    answerUnknown: (exchange: Exchange) => answerProblem(exchange, notFound('page')),
  };
}

/**
 * Answers with a page that describes a problem. For a signed-in person, the page has the navigation, except for a 5xx: the look-up of the
 * session may be what has failed.
 */
async function answerProblem(exchange: Exchange, problem: Problem): Promise<void> {
  const visitor = problem.status < 500 ? await visitorOf(exchange).catch(() => null) : null;
  await answerProblemPage(exchange, problem, visitor);
}
