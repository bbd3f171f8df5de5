// The credentials of a GitHub App: its key signs a token for the App, with which GitHub issues tokens for an installation (docs.github.com,
// "Authenticating as a GitHub App"). They are stored as one text, like any other credentials.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { now, seconds } from '#foundation/clock.ts';
import { invalid } from '#foundation/problem.ts';
import type { AppCredentials } from '../vendor.ts';

export interface GitHubApp {
  /** The App's id, or its OAuth client id. */
  appId: string;
  installationId: string;
  /** RSA private key in PEM format. */
  privateKey: string;
}

const prefix = 'github-app:';

/** Encodes the App as the text that a connector stores as credentials. @throws 400 for a key that cannot sign */
function writeApp({ appId, installationId, privateKey }: GitHubApp): string {
  if (keyOf(privateKey)?.asymmetricKeyType !== 'rsa')
    throw invalid.field('githubApp.privateKey', 'must be the private key of the App: RSA in PEM, without a password');
  return prefix + Buffer.from(JSON.stringify({ appId, installationId, privateKey })).toString('base64url');
}

/** The App as credentials for a connector; null when there is no App. */
export const credentialsOfApp = (app: GitHubApp | null | undefined): AppCredentials | null =>
  app ? { vendor: 'github', field: 'githubApp', write: () => writeApp(app) } : null;

/** Decodes the App from a connector's credentials; null when they are a plain token. */
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

/** Lifetime of a token for the App. GitHub accepts at most ten minutes, and recommends dating the token one minute back, because clocks differ. */
const lifetimeMs = seconds(540);
const clockDifferenceMs = seconds(60);

/** Creates a token with which the App authenticates itself. */
export const appToken = ({ appId, privateKey }: GitHubApp): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(appId)
    .setIssuedAt(new Date(now() - clockDifferenceMs))
    .setExpirationTime(new Date(now() + lifetimeMs))
    .sign(keyOf(privateKey)!);
