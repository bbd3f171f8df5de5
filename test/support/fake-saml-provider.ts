// A small SAML 2.0 provider: reads requests from redirects, and signs responses with real XML signatures, or falsifies them on demand.
import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { makeCertificate } from './certificate.ts';

export type SamlProvider = ReturnType<typeof createSamlProvider>;

const minute = 60_000;
/** A certificate as metadata contains it. */
export const base64Of = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');

/** A SAML request, with which the service begins a sign-in. The service puts it into the URL to which it redirects the browser. */
export interface AuthnRequest {
  id: string;
  issuer: string;
  acs: string;
}

export interface Assertion {
  nameId?: string;
  format?: string;
  attributes?: Record<string, string | string[]>;
  issuer?: string;
  audience?: string;
  recipient?: string;
  /** Id of the request that is answered; null omits it from the response and the assertion. */
  inResponseTo?: string | null;
  notBefore?: number;
  notOnOrAfter?: number;
  id?: string;
}

export interface Signing {
  /** The part that is signed; `none` for an unsigned response. */
  part?: 'Assertion' | 'Response' | 'none';
  key?: 'own' | 'next' | 'foreign';
  signatureAlgorithm?: string;
}

const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

export function createSamlProvider(issuer: string, now: () => number) {
  const keys = {
    own: makeCertificate([], 'rsa'),
    next: makeCertificate([], 'rsa'),
    foreign: makeCertificate([], 'rsa'),
  };
  const signInUrl = `${issuer}/sign-in?tenant=1`;

  const metadata = (...names: (keyof typeof keys)[]): string => `<?xml version="1.0"?>
<!-- As exported by the provider. -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${issuer}">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    ${(names.length > 0 ? names : (['own'] as const))
      .map(
        (name) =>
          `<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64Of(keys[name].cert)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
      )
      .join('\n')}
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${issuer}/post"/>
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${signInUrl}"/>
  </md:IDPSSODescriptor>
</md:EntityDescriptor>`;

  function readRequest(address: string): AuthnRequest {
    const url = new URL(address);
    if (!address.startsWith(signInUrl)) throw new Error(`${address} is not the address of sign-ins`);
    const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString();
    const part = (pattern: RegExp) => pattern.exec(xml)?.[1] ?? '';
    return {
      id: part(/ ID="([^"]+)"/),
      issuer: part(/<saml:Issuer[^>]*>([^<]+)</),
      acs: part(/AssertionConsumerServiceURL="([^"]+)"/),
    };
  }

  const time = (at: number) => new Date(at).toISOString();

  /** The XML of an assertion that answers a request. */
  function assertionOf(request: AuthnRequest, given: Assertion = {}): string {
    const {
      nameId = 'user-1',
      format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      attributes = {},
    } = given;
    const { audience = request.issuer, recipient = request.acs, id = `_${randomBytes(16).toString('hex')}` } = given;
    const { notBefore = now() - minute, notOnOrAfter = now() + 5 * minute } = given;
    const answers = given.inResponseTo === undefined ? request.id : given.inResponseTo;
    return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${time(now())}"><saml:Issuer>${given.issuer ?? issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData${answers === null ? '' : ` InResponseTo="${answers}"`} NotOnOrAfter="${time(notOnOrAfter)}" Recipient="${recipient}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${time(notBefore)}" NotOnOrAfter="${time(notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${time(now())}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${Object.entries(
      attributes,
    )
      .map(
        ([name, values]) =>
          `<saml:Attribute Name="${name}">${[values]
            .flat()
            .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
            .join('')}</saml:Attribute>`,
      )
      .join('')}</saml:AttributeStatement></saml:Assertion>`;
  }

  const responseOf = (request: AuthnRequest, content: string): string =>
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${randomBytes(16).toString('hex')}" Version="2.0" IssueInstant="${time(now())}" Destination="${request.acs}" InResponseTo="${request.id}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${content}</samlp:Response>`;

  function signed(
    xml: string,
    { part = 'Assertion', key = 'own', signatureAlgorithm = rsaSha256 }: Signing = {},
  ): string {
    if (part === 'none') return xml;
    const signature = new SignedXml({
      privateKey: keys[key].key,
      signatureAlgorithm,
      canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
    });
    const transforms = [
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/2001/10/xml-exc-c14n#',
    ];
    const xpath = `//*[local-name(.)='${part}']`;
    signature.addReference({ xpath, transforms, digestAlgorithm: sha256 });
    signature.computeSignature(xml, { location: { reference: `${xpath}/*[local-name(.)='Issuer']`, action: 'after' } });
    return signature.getSignedXml();
  }

  return {
    issuer,
    metadata,
    readRequest,
    assertionOf,
    responseOf,
    signed,
    /** A signed response, as XML. */
    answer: (request: AuthnRequest, given?: Assertion, signing?: Signing): string =>
      signed(responseOf(request, assertionOf(request, given)), signing),
  };
}
