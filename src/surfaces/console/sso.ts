// Signs people in through the identity provider of an organization, and lets an owner test the provider. The provider vouches for the
// person only to its own organization (docs/decisions/0076-sessions-of-providers-reach-one-organization.md).
import { admits } from '#access/gate.ts';
import { admitTest, admitUser, type Tested } from '#domain/identity/identity-providers/admission.ts';
import {
  providerSignInMs,
  providerSignInsPerHourAndNetwork,
  providerText,
  samlBounds,
} from '#domain/identity/identity-providers/bounds.ts';
import type { IdentityProvider } from '#domain/identity/identity-providers/model.ts';
import { pathOf } from '#domain/identity/identity-providers/operations.ts';
import {
  findProvider,
  recordAnswer,
  startSignIn,
  userOfAnswer,
  useStarted,
} from '#domain/identity/identity-providers/sign-in.ts';
import { ProviderRejection } from '#domain/identity/identity-providers/users.ts';
import { addProof } from '#domain/identity/sessions/operations.ts';
import { now } from '#foundation/clock.ts';
import { organizationPath } from '#foundation/http/addresses.ts';
import { html } from '#foundation/http/html.ts';
import { answer, type Exchange, type Handler, mediaType, readForm } from '#foundation/http/http.ts';
import { networkOf } from '#foundation/http/network.ts';
import { OutboundError } from '#foundation/http/outbound.ts';
import { createSharedThrottle } from '#foundation/http/throttle.ts';
import { badGateway, forbidden, notFound, Problem, unsupportedMediaType } from '#foundation/problem.ts';
import { newSecret, sameBytes, signature } from '#foundation/secrets/secrets.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import { answerPage, seeOther, type Visitor } from './layout.ts';
import { signIn } from './sign-in.ts';
import { answerStartPage } from './sso-choice.ts';
import { ownPath, signInFirst, visitorIn, visitorOf } from './visitor.ts';

/** The cookie with the secret to which started sign-ins are bound. */
const cookie = 'sso';
const throttle = createSharedThrottle(
  'sign-ins at identity providers',
  providerSignInsPerHourAndNetwork,
  3_600,
  'Too many sign-ins were started from this network.',
);

const page = /^\/sign-in\/sso\/(idp_[0-9a-f]{32})(\/return|\/acs|\/metadata)?$/;

const handlers = {
  '': { GET: start },
  '/return': { GET: finish },
  '/acs': { POST: takeAnswer },
  '/metadata': { GET: showMetadata },
} as const;

/**
 * Finds the page of an identity provider that has this path: the page that starts a sign-in, the page to which the provider sends the
 * browser back, or one of the pages for SAML. Undefined for any other path.
 */
export function findSsoPage(
  path: string,
): [route: string, methods: Partial<Record<'GET' | 'POST', Handler>>] | undefined {
  const [, id, name = ''] = page.exec(path) ?? [];
  if (id === undefined) return undefined;
  const methods = Object.entries(handlers[name as keyof typeof handlers]).map(
    ([method, act]: [string, (exchange: Exchange, id: string) => Promise<void>]) =>
      [method, (exchange: Exchange) => act(exchange, id)] as const,
  );
  return [pathOf('{id}') + name, Object.fromEntries(methods)];
}

/**
 * Starts a sign-in by GET, because `form-action` forbids a form here. The administrator of a provider decides which account a sign-in uses,
 * without asking the person. Therefore a link from another site leads to a page that asks first.
 */
async function start(exchange: Exchange, id: string): Promise<void> {
  await throttle.take(networkOf(exchange.address));
  const parameters = new URLSearchParams(exchange.search);
  const isTest = parameters.has('test');
  const provider = await findProvider(id, isTest);
  if (isTest && !(await visitorOf(exchange))) return signInFirst(exchange);
  const tester = isTest ? await testerOf(exchange, provider) : null;
  const returnTo = ownPath(parameters.get('return_to'));
  const browser = cookieOf(exchange, cookie) ?? newSecret('');
  setCookie(exchange, cookie, browser, providerSignInMs.open);
  const isAsked =
    exchange.req.headers['sec-fetch-site'] === 'same-origin' || isShown(browser, id, parameters.get('shown'));
  if (!isAsked) {
    parameters.set('shown', shownIn(browser, id));
    return answerStartPage(exchange, provider, `${pathOf(id)}?${parameters}`);
  }
  const testerId = tester?.person.id ?? null;
  const kept = returnTo.length <= providerText.returnTo.max ? returnTo : '/console';
  const address = await startSignIn(provider, { browser, returnTo: kept, testerId }).catch((error) => {
    throw notStarted(provider, isTest, error);
  });
  seeOther(exchange, address);
}

/** Proof that this browser has shown the page that asks before a sign-in, for browsers that do not send `Sec-Fetch-Site`. */
const shownIn = (browser: string, providerId: string): string =>
  signature('sso start', `${providerId} ${browser}`).toString('base64url');
const isShown = (browser: string, providerId: string, proof: string | null): boolean =>
  proof !== null && sameBytes(Buffer.from(proof), Buffer.from(shownIn(browser, providerId)));

/** Returns the owner who tests a provider. @throws 404 if the visitor is anybody else */
async function testerOf(exchange: Exchange, { orgId }: IdentityProvider): Promise<Visitor> {
  const visitor = await visitorIn(exchange, orgId).catch(() => null);
  if (!visitor || !admits(visitor.caller, 'sign-in:write')) throw notFound('identity provider');
  return visitor;
}

async function finish(exchange: Exchange, id: string): Promise<void> {
  const provider = await findProvider(id, true);
  const state = new URLSearchParams(exchange.search).get('state') ?? '';
  const started = await useStarted(provider, state, cookieOf(exchange, cookie));
  const { testerId, returnTo } = started;
  if (testerId === null && provider.testedAt === null) throw notFound('identity provider');
  const tester = testerId === null ? null : await testerOf(exchange, provider);
  if (tester && tester.person.id !== testerId) throw notFound('identity provider');
  const proof = { orgId: provider.orgId, until: now() + providerSignInMs.session };
  if (tester) {
    const tested = await explained(exchange, provider, true, async () =>
      admitTest(provider, await userOfAnswer(provider, started, exchange.search), tester.person.id),
    );
    if (tested.isOwn) await addProof(tester.caller.credentialId, proof);
    return answerTested(exchange, tester, provider, tested);
  }
  const visitor = await visitorOf(exchange);
  const person = await explained(exchange, provider, false, async () =>
    admitUser(provider, await userOfAnswer(provider, started, exchange.search), visitor?.person),
  );
  await signIn(exchange, person, returnTo, proof);
}

/**
 * Stores the answer that a SAML provider makes the browser post. A POST from another site has no cookie, so the browser is redirected to
 * the page that checks the answer.
 */
async function takeAnswer(exchange: Exchange, id: string): Promise<void> {
  await throttle.take(networkOf(exchange.address));
  const provider = await findProvider(id, true);
  if (mediaType(exchange) !== 'application/x-www-form-urlencoded')
    throw unsupportedMediaType('Send the response as application/x-www-form-urlencoded.');
  const form = await readForm(exchange, samlBounds.bodyBytes);
  const state = await explained(exchange, provider, false, () =>
    recordAnswer(provider, form.get('SAMLResponse') ?? ''),
  );
  seeOther(exchange, `${pathOf(id)}/return?state=${state}`);
}

async function showMetadata(exchange: Exchange, id: string): Promise<void> {
  const provider = await findProvider(id, true);
  if (provider.protocol !== 'saml') throw notFound('identity provider');
  const { ownMetadata } = await import('#domain/identity/identity-providers/saml.ts');
  answer(exchange, 200, ownMetadata(provider), {
    'content-type': 'application/samlmetadata+xml',
    'cache-control': 'no-store',
  });
}

/**
 * Returns the problem for a failure before the person was sent to the provider. An owner who tests the provider also sees the error message
 * of the OpenID or SAML library.
 */
function notStarted({ name }: IdentityProvider, isTest: boolean, error: unknown): Problem {
  const message = isTest && !isUnreachable(error) && error instanceof Error ? ` ${error.message}` : ' Try again later.';
  return badGateway(`${name} cannot be reached, or does not answer as an identity provider.${message}`);
}

/**
 * Does work after the person has returned from the provider. Turns a failure into a page, and a refusal also into an event of the
 * organization. An owner who tests the provider sees the error message of the OpenID or SAML library. The message contains neither claims
 * nor addresses; the cause of the error, which may contain them, is not shown.
 */
async function explained<T>(
  exchange: Exchange,
  provider: IdentityProvider,
  isTest: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { id, orgId, name } = provider;
    if (isUnreachable(error)) throw notStarted(provider, isTest, error);
    if (error instanceof Problem && error.status !== 403) throw error;
    const isKnown = error instanceof ProviderRejection || error instanceof Problem;
    const message = error instanceof Error ? error.message : '';
    const reason = isKnown || isTest ? message : 'Its response is invalid.';
    exchange.refusal = { kind: 'sign_in', id, name, reason: message.slice(0, 500), organizations: [orgId] };
    throw forbidden(`${name} did not sign you in. ${reason}`);
  }
}

/** Whether the error, or one of its causes, is a failed request. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof OutboundError || (error instanceof Error && error.cause !== undefined && isUnreachable(error.cause));

function answerTested(
  exchange: Exchange,
  visitor: Visitor,
  { name, orgId }: IdentityProvider,
  { email, subject, name: personName, isOwn }: Tested,
): Promise<void> {
  const organization = visitor.organizations.find((own) => own.id === orgId)!;
  const body = html`<section class="card">
    <h1>${name} works</h1>
    <p>People with email addresses in its domains can now sign in with it.</p>
    <dl class="facts"><dt>Email</dt><dd>${email}</dd><dt>Name</dt><dd>${personName ?? 'None'}</dd><dt>Identifier</dt><dd><code>${subject}</code></dd></dl>
    ${!isOwn && html`<p class="note">This is not the email address of your account. Before the provider can be required, an owner must sign in through it.</p>`}
    <p><a class="button" href="${organizationPath(organization.slug)}/sign-in">Back to the settings</a></p>
  </section>`;
  return answerPage(exchange, 200, { title: 'Test', body, visitor });
}
