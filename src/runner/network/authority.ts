// A certificate authority of one mission (RFC 5280): only programs of that mission trust it, and its key is only in memory. Node.js
// reads certificates but writes none, so they are written here as DER (X.690).
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';

export interface Authority {
  /** The certificate as PEM. */
  certificate: string;
  /** Key and certificate of a server that answers for the host. */
  contextFor(host: string): SecureContext;
}

/**
 * Lifetime of certificates, and the clock difference between a machine and its virtual machines that is tolerated. The lifetime is longer
 * than any mission stays on one runner.
 */
const [lifetimeMs, skewMs] = [7 * 24 * 60 * 60_000, 60 * 60_000];

/** Maximum number of cached server certificates, because a wildcard can match any number of hosts. */
export const maxContexts = 100;

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const hex = (text: string) => Buffer.from(text, 'hex');
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octets = (...parts: Uint8Array[]) => der(0x04, ...parts);
const bits = (unused: number, bytes: Uint8Array) => der(0x03, Buffer.from([unused]), bytes);
const objectId = (text: string) => der(0x06, hex(text));
const isTrue = hex('0101ff');
const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const serverAuth = objectId('2b06010505070301');

const extension = (id: string, value: Uint8Array) => sequence(objectId(id), octets(value));
const critical = (id: string, value: Uint8Array) => sequence(objectId(id), isTrue, octets(value));
const nameOf = (text: string) => sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(text)))));
/** A DER UTCTime, which can represent years only until 2049. */
const timeOf = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`));

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicDer = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** PEM of a certificate that the issuer's key signs. */
function certify(issuer: Buffer, signer: KeyObject, subject: Buffer, key: KeyObject, extensions: Buffer[]): string {
  const now = Date.now();
  const serial = randomBytes(16);
  // Makes the serial number positive and without leading zeros, as DER requires.
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  const body = sequence(
    der(0xa0, hex('020102')), // version 3
    der(0x02, serial),
    ecdsaWithSha256,
    issuer,
    sequence(timeOf(now - skewMs), timeOf(now + lifetimeMs)),
    subject,
    publicDer(key),
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, ecdsaWithSha256, bits(0, sign('sha256', body, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

export function openAuthority(): Authority {
  const [own, servers] = [newKeys(), newKeys()];
  const name = nameOf(`Mission authority ${randomBytes(4).toString('hex')}`);
  const keyId = createHash('sha1').update(publicDer(own.publicKey)).digest();
  const contexts = new Map<string, SecureContext>();
  const certificate = certify(name, own.privateKey, name, own.publicKey, [
    critical('551d13', sequence(isTrue, hex('020100'))), // basicConstraints: CA with path length 0, which signs no further authorities
    critical('551d0f', bits(2, hex('04'))), // keyUsage: keyCertSign
    extension('551d0e', octets(keyId)), // subjectKeyIdentifier
  ]);
  const serverExtensions = (host: string): Buffer[] => [
    critical('551d13', sequence()),
    critical('551d0f', bits(7, hex('80'))), // digitalSignature
    extension('551d25', sequence(serverAuth)), // extKeyUsage
    extension('551d23', sequence(der(0x80, keyId))), // authorityKeyIdentifier
    extension('551d11', sequence(der(0x82, Buffer.from(host)))), // subjectAltName
  ];
  return {
    certificate,
    contextFor(host) {
      // A common name has at most 64 characters; the host is in subjectAltName.
      const make = () =>
        createSecureContext({
          key: servers.privateKey.export({ type: 'pkcs8', format: 'pem' }),
          cert: certify(name, own.privateKey, nameOf(host.slice(0, 64)), servers.publicKey, serverExtensions(host)),
        });
      const context = contexts.get(host) ?? make();
      contexts.set(host, context);
      if (contexts.size > maxContexts) contexts.delete(contexts.keys().next().value!);
      return context;
    },
  };
}
