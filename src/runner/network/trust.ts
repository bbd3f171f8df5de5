// Certificate authorities that programs of a mission trust, and the variables that name their files.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rootCertificates } from 'node:tls';

export interface Trust {
  /** A file or folder with the certificate authorities, mounted in cells and containers at the same path. */
  path: string;
  variables: Record<string, string>;
  /** Options of the JVM, which ignores `variables`. */
  java: string[];
}

/** Paths of the certificate bundles of distributions. */
const systemBundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

const readText = (file: string | undefined): string | null => {
  try {
    return file ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
};

/** PEM of the certificate authorities of this machine, and of those that its operator has added. */
export function readRoots({ NODE_EXTRA_CA_CERTS }: NodeJS.ProcessEnv): string {
  const system = systemBundles.map(readText).find(Boolean) ?? rootCertificates.join('\n');
  return `${system}\n${readText(NODE_EXTRA_CA_CERTS) ?? ''}\n`;
}

/** Certificate authorities of the operator, in addition to the authorities of the system or image. */
export const addAuthorities = (file: string): Trust => ({
  path: file,
  variables: { NODE_EXTRA_CA_CERTS: file },
  java: [],
});

/**
 * Variables that name the file with the certificate authorities. They are read by Node.js, by OpenSSL (which Python, Ruby and Go also
 * follow), by the Python package `requests`, by pip, git, curl, npm and Cargo, by the AWS tools, and by Deno.
 */
const bundleVariables = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
  'CURL_CA_BUNDLE',
  'NPM_CONFIG_CAFILE',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'DENO_CERT',
];

/** Writes these certificate authorities into a new folder that all accounts can read. */
export async function replaceAuthorities(folder: string, authorities: string): Promise<Trust> {
  const [bundle, java] = [path.join(folder, 'authorities.pem'), path.join(folder, 'authorities.jks')];
  await mkdir(folder);
  await Promise.all([writeFile(bundle, authorities), writeFile(java, javaTrustStore(authorities))]);
  for (const [file, mode] of [
    [folder, 0o755],
    [bundle, 0o644],
    [java, 0o644],
  ] as const)
    await chmod(file, mode);
  return {
    path: folder,
    variables: Object.fromEntries(bundleVariables.map((name) => [name, bundle])),
    java: [`-Djavax.net.ssl.trustStore=${java}`, '-Djavax.net.ssl.trustStoreType=JKS'],
  };
}

/** Magic number of a Java key store. Java checks the digest at the end of a store only if a password is given, and this store has no password. */
const [storeMagic, storeVersion, trustedCertificate] = [0xfeedfeed, 2, 2];

/** A Java key store that contains only certificates, because the JVM reads no PEM. */
function javaTrustStore(authorities: string): Buffer {
  const number = (value: number | bigint, bytes: 2 | 4 | 8): Buffer => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64BE(BigInt(value));
    return buffer.subarray(8 - bytes);
  };
  const text = (value: string) => [number(value.length, 2), Buffer.from(value)];
  const pems = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const certificates = [...new Set(pems)].map((pem) => new X509Certificate(pem).raw);
  const entries = certificates.flatMap((raw, at) => [
    ...[number(trustedCertificate, 4), ...text(`authority-${at}`), number(Date.now(), 8)],
    ...[...text('X.509'), number(raw.length, 4), raw],
  ]);
  const head = [number(storeMagic, 4), number(storeVersion, 4), number(certificates.length, 4)];
  return Buffer.concat([...head, ...entries, Buffer.alloc(20)]);
}
