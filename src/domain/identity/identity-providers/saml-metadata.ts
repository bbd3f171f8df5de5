// The metadata of a SAML provider (SAML Metadata 2.0): its entity id, the URL for sign-ins by redirect, and its signing certificates. The
// source of the metadata is trusted; a signature on the metadata itself is not checked.
import { X509Certificate } from 'node:crypto';
import { DOMParser } from '@xmldom/xmldom';
import { isIdentifier } from '#foundation/http/addresses.ts';
import { invalid } from '#foundation/problem.ts';
import { providerText, samlBounds } from './bounds.ts';

type Refuse = (reason: string) => never;

/** The members of a DOM element that are read here. */
interface Element {
  localName: string | null;
  namespaceURI: string | null;
  textContent: string | null;
  firstChild: Element | null;
  nextSibling: Element | null;
  getAttribute(name: string): string | null;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<Element>;
}

export interface SamlMetadata {
  /** The entity id. */
  issuer: string;
  signInUrl: string;
  /** Certificates in base64. */
  certificates: string[];
}

const metadata = 'urn:oasis:names:tc:SAML:2.0:metadata';
const signatures = 'http://www.w3.org/2000/09/xmldsig#';
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/** Reads the metadata of one provider. @param field Name of the request field that contains the metadata, for errors. @throws 400 */
export function parseSamlMetadata(xml: string, field: string): SamlMetadata {
  const unusable = (reason: string): never => {
    throw invalid.field(field, reason);
  };
  if (xml.length > samlBounds.metadataChars) unusable(`must be at most ${samlBounds.metadataChars} characters`);
  // A DTD could define entities that grow without bound.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) unusable('must have no document type definition');
  const root = rootOf(xml, unusable);
  const issuer = root.getAttribute('entityID') ?? '';
  const { min, max } = providerText.issuer;
  if (issuer.length < min || issuer.length > max) unusable('must name the entity id of the provider');
  const [descriptor, ...others] = childrenOf(root, metadata, 'IDPSSODescriptor');
  if (!descriptor || others.length > 0) return unusable('must describe one identity provider (IDPSSODescriptor)');
  const services = childrenOf(descriptor, metadata, 'SingleSignOnService');
  const signInUrl = services
    .find((service) => service.getAttribute('Binding') === redirectBinding)
    ?.getAttribute('Location');
  if (!signInUrl || !isSignInUrl(signInUrl))
    return unusable('must have a SingleSignOnService for HTTP-Redirect at an https URL');
  return { issuer, signInUrl, certificates: certificatesOf(descriptor, unusable) };
}

/** Only the person's browser opens this URL, never the service, so the URL may be in a private network. */
const isSignInUrl = (url: string): boolean =>
  url.length <= providerText.issuer.max && isIdentifier(url.split('?', 1)[0]!);

function rootOf(xml: string, unusable: Refuse): Element {
  const fail = () => unusable('must be well-formed XML');
  const document = new DOMParser({
    errorHandler: { warning: () => {}, error: fail, fatalError: fail },
  }).parseFromString(xml, 'text/xml');
  const root = document?.documentElement as unknown as Element | undefined;
  if (root?.localName !== 'EntityDescriptor' || root.namespaceURI !== metadata)
    return unusable('must be the EntityDescriptor of one provider');
  return root;
}

function childrenOf(parent: Element, namespace: string, name: string): Element[] {
  const children: Element[] = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    const element = node as Element;
    if (element.localName === name && element.namespaceURI === namespace) children.push(element);
  }
  return children;
}

/** Certificates of signing keys. */
function certificatesOf(descriptor: Element, unusable: Refuse): string[] {
  const keys = childrenOf(descriptor, metadata, 'KeyDescriptor').filter(
    (key) => key.getAttribute('use') !== 'encryption',
  );
  const texts = keys.flatMap((key) =>
    Array.from(key.getElementsByTagNameNS(signatures, 'X509Certificate'), ({ textContent }) => textContent ?? ''),
  );
  const certificates = [...new Set(texts.map((text) => text.replace(/\s+/g, '')))];
  if (certificates.length === 0) unusable('must contain a certificate for signatures');
  if (certificates.length > samlBounds.certificates)
    unusable(`must have at most ${samlBounds.certificates} certificates`);
  for (const certificate of certificates)
    if (!isStrong(certificate)) unusable(`must have certificates with RSA keys of ${samlBounds.rsaBits} bits or more`);
  return certificates;
}

/** Certificates in metadata only carry keys: neither their issuer nor their expiry matters (SAML Metadata Interoperability Profile). */
function isStrong(base64: string): boolean {
  const details = publicKeyOf(base64);
  return details?.asymmetricKeyType === 'rsa' && details.asymmetricKeyDetails!.modulusLength! >= samlBounds.rsaBits;
}

function publicKeyOf(base64: string) {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).publicKey;
  } catch {
    return undefined;
  }
}
