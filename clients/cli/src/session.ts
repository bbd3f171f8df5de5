// The service and the credential of a command: AEP_TOKEN, or the sign-in of `aep login`.
import { type Client, createClient } from '../../typescript/src/exports.ts';
import { isRefused, refresh } from './oauth.ts';
import { changeStore, readStore, type SignIn } from './store.ts';

/** Options of every command. */
export interface CommonOptions {
  url?: string;
  json?: true;
}

/** A token is renewed this long before it expires. */
const marginMs = 60_000;

/** An error whose message tells the person what to correct. */
export class UserError extends Error {}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** The URL of the service: `--url`, AEP_URL, the URL of the last sign-in, or a service on this machine. */
export async function serviceUrl(option: string | undefined): Promise<string> {
  const url = option ?? (process.env.AEP_URL || (await readStore()).url) ?? 'http://localhost:4000';
  if (!/^https?:\/\/./.test(url)) throw new UserError(`${url} is not an http or https address.`);
  return withoutSlash(url);
}

export async function openClient(option: string | undefined): Promise<Client> {
  const url = await serviceUrl(option);
  const headers = { 'user-agent': 'aep' };
  return createClient({ url, headers, token: process.env.AEP_TOKEN || ((refused) => currentToken(url, refused)) });
}

async function currentToken(url: string, refused: string | undefined): Promise<string> {
  const signIn = (await readStore()).signIns[url];
  if (!signIn) throw signedOut(url);
  return isFresh(signIn, refused) ? signIn.accessToken : renew(url, refused);
}

const isFresh = ({ accessToken, expiresAt }: SignIn, refused: string | undefined): boolean =>
  accessToken !== refused && expiresAt - Date.now() > marginMs;

/** Renews the token, unless another process has already renewed it. */
const renew = (url: string, refused: string | undefined): Promise<string> =>
  changeStore(async (store) => {
    const signIn = store.signIns[url];
    if (!signIn) throw signedOut(url);
    if (isFresh(signIn, refused)) return signIn.accessToken;
    if (!signIn.refreshToken) throw signedOut(url);
    try {
      const renewed = await refresh(signIn);
      store.signIns[url] = renewed;
      return renewed.accessToken;
    } catch (error) {
      throw isRefused(error) ? signedOut(url) : error;
    }
  });

const signedOut = (url: string): UserError =>
  new UserError(`You are not signed in to ${url}. Run "aep login", or set AEP_TOKEN to a personal access token.`);
