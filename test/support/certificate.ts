// A self-signed certificate for this machine, written as DER (RFC 5280 §4.1). Node cannot create one, and the tests must not depend on openssl.
import { generateKeyPairSync, sign } from 'node:crypto';

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const n = body.length;
  const size = n < 0x80 ? [n] : n < 0x100 ? [0x81, n] : [0x82, n >> 8, n & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const hex = (text: string) => Buffer.from(text, 'hex');
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octets = (...parts: Uint8Array[]) => der(0x04, ...parts);
const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'));
const rsaWithSha256 = sequence(hex('06092a864886f70d01010b'), hex('0500'));
const oid = { commonName: hex('0603550403'), subjectAltName: hex('0603551d11'), basicConstraints: hex('0603551d13') };

export interface Certificate {
  /** The key as PEM. */
  key: string;
  cert: string;
}

/** A time as ASN.1 writes it in a certificate, to the second: YYMMDDHHMMSSZ. */
const timeOf = (at: number): Buffer => Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/\D/g, '')}Z`);

/** A certificate valid for these host names and for 127.0.0.1. */
export function makeCertificate(
  hosts: readonly string[] = ['localhost'],
  kind: 'ec' | 'rsa' = 'ec',
  expiresAt = Date.UTC(2049, 0),
): Certificate {
  const { privateKey, publicKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const algorithm = kind === 'ec' ? ecdsaWithSha256 : rsaWithSha256;
  const name = sequence(der(0x31, sequence(oid.commonName, der(0x0c, Buffer.from('test')))));
  const names = sequence(...hosts.map((host) => der(0x82, Buffer.from(host))), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(oid.basicConstraints, octets(sequence(hex('0101ff')))),
    sequence(oid.subjectAltName, octets(names)),
  );
  const body = sequence(
    hex('a003020102'), // version 3
    hex('020101'), // serial number 1
    algorithm,
    name,
    sequence(der(0x17, timeOf(Date.UTC(2020, 0))), der(0x17, timeOf(expiresAt))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, hex('00'), sign('sha256', body, privateKey));
  const text = sequence(body, algorithm, signature)
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
  };
}
