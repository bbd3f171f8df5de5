// A sign-in at a SAML 2.0 provider of an organization: the request by redirect, and the checks of the signed assertion that the provider
// posts (SAML Core §2 and §3, SAML Profiles §4.1.4; SAML Bindings §3.5). node-saml verifies signatures and structure; times are checked
// here, with the clock of the service. Loaded at the first sign-in.
import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { now } from '#foundation/clock.ts';
import { clockSkewMs } from '#limits.ts';
import { samlBounds } from './bounds.ts';
import type { IdentityProvider } from './model.ts';
import { acsAddressOf, entityIdOf } from './operations.ts';
import { type ProviderUser, rejectAnswer } from './users.ts';

const samlOf = (provider: IdentityProvider, id = ''): SAML =>
  new SAML({
    ...{ callbackUrl: acsAddressOf(provider), issuer: entityIdOf(provider), audience: entityIdOf(provider) },
    ...{ entryPoint: provider.signInUrl!, idpCert: provider.certificates, generateUniqueId: () => id },
    // The provider chooses the format of the identifier and how the person signs in there.
    ...{ identifierFormat: null, disableRequestedAuthnContext: true, signatureAlgorithm: 'sha256' },
    ...{ wantAssertionsSigned: true, wantAuthnResponseSigned: false },
    // The library does not check which request a response answers, because this service keeps the requests in its database. The library
    // does not check times either: `checkConfirmation` and `checkConditions` do, with the clock of the service.
    ...{ validateInResponseTo: ValidateInResponseTo.never, acceptedClockSkewMs: -1 },
  });

/** The metadata of the service for this provider. Requests are not signed, so that there is no key to rotate. */
export const ownMetadata = (provider: IdentityProvider): string =>
  samlOf(provider).generateServiceProviderMetadata(null, null);

/** The URL at the provider where the person signs in. @param id The id of the request, which the response must name */
export const samlAddress = (provider: IdentityProvider, id: string): Promise<string> =>
  samlOf(provider, id).getAuthorizeUrlAsync('', undefined, {});

export interface SamlAnswer {
  user: ProviderUser;
  /** The id of the request that the response answers. */
  requestId: string;
  assertionId: string;
}

/** Checks the response that the provider has posted, and returns the user whom the response signs in. @throws ProviderRejection */
export async function readSamlAnswer(provider: IdentityProvider, response: string): Promise<SamlAnswer> {
  refuseUnsafe(decoded(response));
  const { profile } = await samlOf(provider)
    .validatePostResponseAsync({ SAMLResponse: response })
    .catch((error: Error) => rejectAnswer(sentence(error.message)));
  if (!profile) return rejectAnswer('It returned no assertion.');
  const { Assertion: assertion } = profile.getAssertion!() as { Assertion: Parsed };
  const assertionId = attribute(assertion, 'ID') ?? rejectAnswer('Its assertion has no id.');
  if (assertionId.length > samlBounds.id.max)
    rejectAnswer(`The id of its assertion is longer than ${samlBounds.id.max} characters.`);
  if (textOf(assertion, 'Issuer') !== provider.issuer) rejectAnswer('Its assertion names a different issuer.');
  const requestId = checkConfirmation(provider, assertion);
  checkConditions(assertion);
  return { user: userOf(profile as Profile), requestId, assertionId };
}

/**
 * Makes a sentence of an error message of node-saml. The expected and received audiences are left out, because the received audiences are
 * text from the response.
 */
const sentence = (message: string): string =>
  `${message
    .replace(/ Expected: .*/s, '')
    .slice(0, 200)
    .replace(/\.?$/, '.')}`;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decoded(base64: string): string {
  if (base64.length > samlBounds.responseChars)
    rejectAnswer(`Its response is longer than ${samlBounds.responseChars} characters.`);
  try {
    return utf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    return rejectAnswer('Its response is not UTF-8.');
  }
}

const canonical = ['http://www.w3.org/2001/10/xml-exc-c14n#', 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'];
const algorithms = new Set([
  ...canonical,
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  ...['256', '512'].map((bits) => `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`),
  ...['256', '512'].map((bits) => `http://www.w3.org/2001/04/xmlenc#sha${bits}`),
]);

/**
 * Refuses XML that two parsers could read differently (document types, entities, CDATA, and comments, which canonicalization removes).
 * Refuses algorithms that are weak, and transforms with which a signature could cover other content than the assertion that is read.
 */
function refuseUnsafe(xml: string): void {
  if (xml.includes('<!')) rejectAnswer('Its response contains a document type, a comment or CDATA.');
  for (const [, double, single] of xml.matchAll(/\bAlgorithm\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const algorithm = double ?? single!;
    if (!algorithms.has(algorithm))
      rejectAnswer(`Its response uses the unsupported algorithm ${algorithm.slice(0, 100)}.`);
  }
}

/** An element as xml2js parses it: attributes in `$`, text in `_`, and children by name. */
interface Parsed {
  $?: Record<string, string>;
  _?: string;
  [child: string]: unknown;
}

const attribute = ({ $ }: Parsed, name: string): string | undefined => $?.[name];
const children = (parent: Parsed, name: string): Parsed[] => (parent[name] as Parsed[] | undefined) ?? [];
const textOf = (parent: Parsed, name: string): string | undefined => {
  const [child] = children(parent, name);
  return typeof child === 'string' ? child : child?._;
};

/** Whether the current time is within the interval, allowing for clock skew. */
function isNow(element: Parsed): boolean {
  const at = now();
  const [from, until] = [attribute(element, 'NotBefore'), attribute(element, 'NotOnOrAfter')];
  return (
    (from === undefined || Date.parse(from) <= at + clockSkewMs) &&
    (until === undefined || Date.parse(until) > at - clockSkewMs)
  );
}

/** The id of the request that the bearer confirmation names (SAML Profiles §4.1.4.2). */
function checkConfirmation(provider: IdentityProvider, assertion: Parsed): string {
  const [subject] = children(assertion, 'Subject');
  const bearers = subject
    ? children(subject, 'SubjectConfirmation').filter(
        (one) => attribute(one, 'Method') === 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
      )
    : [];
  const data = bearers.length === 1 ? children(bearers[0]!, 'SubjectConfirmationData')[0] : undefined;
  if (!data) return rejectAnswer('Its assertion must have exactly one bearer confirmation.');
  if (attribute(data, 'Recipient') !== acsAddressOf(provider))
    rejectAnswer('Its assertion is for a different recipient.');
  if (attribute(data, 'NotOnOrAfter') === undefined || !isNow(data)) rejectAnswer('Its assertion has expired.');
  return (
    attribute(data, 'InResponseTo') ??
    rejectAnswer('Its assertion does not answer a request of this service. Start on the sign-in page.')
  );
}

function checkConditions(assertion: Parsed): void {
  const [conditions] = children(assertion, 'Conditions');
  if (!conditions || !isNow(conditions)) rejectAnswer('Its assertion has expired, or is not valid yet.');
}

interface Profile {
  nameID?: string;
  nameIDFormat?: string;
  attributes?: Record<string, unknown>;
}

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const emailNames = [
  'email',
  'mail',
  'emailAddress',
  'User.email',
  `${claims}emailaddress`,
  'urn:oid:0.9.2342.19200300.100.1.3',
];
const nameNames = [
  'displayName',
  'http://schemas.microsoft.com/identity/claims/displayname',
  'urn:oid:2.16.840.1.113730.3.1.241',
];
const partNames = [
  ['firstName', `${claims}givenname`, 'User.FirstName', 'urn:oid:2.5.4.42'],
  ['lastName', `${claims}surname`, 'User.LastName', 'urn:oid:2.5.4.4'],
];

function userOf({ nameID, nameIDFormat, attributes = {} }: Profile): ProviderUser {
  if (!nameID) return rejectAnswer('Its assertion has no NameID.');
  if (nameIDFormat?.endsWith(':transient'))
    rejectAnswer('Its NameID is transient: configure a persistent one, or an email address.');
  const first = (names: readonly string[]): unknown =>
    names
      .map((name) => (Object.hasOwn(attributes, name) ? attributes[name] : undefined))
      .find((value) => value !== undefined);
  const email = first(emailNames) ?? nameID;
  if (typeof email !== 'string') return rejectAnswer('It returned several email addresses.');
  const name =
    first(nameNames) ??
    partNames
      .map(first)
      .filter((part) => typeof part === 'string')
      .join(' ');
  return { subject: nameID, email: email.trim(), name };
}
