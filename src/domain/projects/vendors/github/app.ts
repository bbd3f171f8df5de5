// The credentials of a GitHub App: its key signs a token for the App, with which GitHub issues tokens for an installation (docs.github.com,
// "Authenticating as a GitHub App"). They are stored as one text, like any other credentials.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { now, seconds } from '#foundation/clock.ts';
import { invalid } from '#foundation/problem.ts';
import type { AppCredentials } from '../vendor.ts';

export interface GitHubApp {
  /** The App's id, or its client id. */
  appId: string;
  installationId: string;
  /** An RSA key in PEM. */
  privateKey: string;
}

const prefix = 'github-app:';

/** The App as the text of credentials. @throws 400 for a key that cannot sign */
function writeApp({ appId, installationId, privateKey }: GitHubApp): string {
  if (keyOf(privateKey)?.asymmetricKeyType !== 'rsa')
    throw invalid.field('githubApp.privateKey', 'must be the private key of the App: RSA in PEM, without a password');
  return prefix + Buffer.from(JSON.stringify({ appId, installationId, privateKey })).toString('base64url');
}

/** The App as credentials of a connector; null without one. */
export const credentialsOfApp = (app: GitHubApp | null | undefined): AppCredentials | null =>
  app ? { vendor: 'github', field: 'githubApp', write: () => writeApp(app) } : null;

/** The App of credentials; null for a token. */
export const readApp = (credentials: string): GitHubApp | null =>
  credentials.startsWith(prefix)
    ? JSON.parse(Buffer.from(credentials.slice(prefix.length), 'base64url').toString())
    : null;

function keyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

/** GitHub accepts at most ten minutes, and recommends a minute for the difference of clocks. */
const lifetimeMs = seconds(540);
const clockDifferenceMs = seconds(60);

/** A token for the App itself. */
export const appToken = ({ appId, privateKey }: GitHubApp): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(appId)
    .setIssuedAt(new Date(now() - clockDifferenceMs))
    .setExpirationTime(new Date(now() + lifetimeMs))
    .sign(keyOf(privateKey)!);
