// Sign-in, sign-out, and the caller's identity.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openBrowser } from '../browser.ts';
import { authorize, defaultScopes, discover, register, revoke } from '../oauth.ts';
import { paint, printError, printJson, printLine, printRecord } from '../output.ts';
import { type CommonOptions, openClient, serviceUrl, UserError } from '../session.ts';
import { changeStore, readStore, type SignIn, storeFile } from '../store.ts';
import { consoleOf } from './open.ts';

interface BrowserOption {
  browser: boolean;
}

export async function signIn(options: CommonOptions & BrowserOption & { scopes?: string[] }): Promise<void> {
  const url = await serviceUrl(options.url);
  const service = await discover(url);
  const before = (await readStore()).signIns[url];
  const clientId = before?.issuer === service.server.issuer ? before.clientId : await register(service);
  const signIn = await byBrowser(
    (redirectUri) => authorize(service, clientId, redirectUri, options.scopes ?? defaultScopes),
    options.browser,
  );
  await changeStore(async (store) => {
    store.url = url;
    store.signIns[url] = signIn;
  });
  if (options.json) printJson({ url, signedIn: true });
  else printLine(`You are signed in to ${await consoleOf(options)}. The sign-in is kept in ${storeFile}.`);
}

/** Opens the sign-in page and waits for its redirect to a port of this machine. */
async function byBrowser(
  prepare: (redirectUri: string) => ReturnType<typeof authorize>,
  mayOpen: boolean,
): Promise<SignIn> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  try {
    const request = await prepare(redirectUri);
    printError('Sign in on this page:');
    printError(`  ${request.address}`);
    if (mayOpen) openBrowser(request.address);
    return await new Promise<SignIn>((resolve, reject) => {
      server.on('request', (incoming, response) => {
        if (!incoming.url!.startsWith('/callback?')) return response.writeHead(404).end();
        const callback = new URL(incoming.url!, redirectUri);
        if (!request.isAnswered(callback)) {
          return answer(response, 400, 'This is another sign-in', 'The terminal waits for the newest sign-in.');
        }
        request.finish(callback).then(
          (signIn) => {
            answer(response, 200, 'You are signed in', 'You can close this page and return to the terminal.');
            resolve(signIn);
          },
          (error: Error) => {
            answer(response, 400, 'The sign-in failed', 'The terminal shows the reason.');
            reject(new UserError(`The sign-in failed: ${error.message}`));
          },
        );
      });
    });
  } finally {
    server.close();
    server.closeIdleConnections();
  }
}

function answer(response: import('node:http').ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' });
  response.end(`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`);
}

export async function signOut(options: CommonOptions): Promise<void> {
  const url = await serviceUrl(options.url);
  const known = await changeStore(async (store) => {
    const signIn = store.signIns[url];
    if (!signIn) return false;
    await revoke(signIn);
    delete store.signIns[url];
    return true;
  });
  if (options.json) printJson({ url, signedIn: false });
  else printLine(known ? `You are signed out of ${url}.` : `You were not signed in to ${url}.`);
}

interface Names {
  me: { person?: { name: string | null; email: string } | null; organization?: { name: string; slug: string } | null };
}

export async function whoAmI(options: CommonOptions): Promise<void> {
  const client = await openClient(options.url);
  const me = await client.me();
  if (options.json) return printJson(me);
  // The names are left out if the credential lacks the scopes to read them.
  const person = me.scopes.includes('members:read') ? 'person { name email }' : '';
  const organization = me.scopes.includes('organizations:read') ? 'organization { name slug }' : '';
  const names = person || organization ? (await client.graphql<Names>(`{ me { ${person} ${organization} } }`)).me : {};
  printRecord({
    service: await serviceUrl(options.url),
    person: names.person && `${names.person.name ?? ''} <${names.person.email}>`.trim(),
    user: me.userId,
    organization: names.organization ? `${names.organization.name}, ${me.orgId}` : me.orgId,
    role: me.role,
    project: me.projectId,
    scopes: me.scopes.join(' '),
  });
}

/** Tokens can be managed only in the console, not with a token, so this command opens the console's page of tokens. */
export async function openTokens(options: CommonOptions & BrowserOption): Promise<void> {
  const page = `${await consoleOf(options)}/tokens`;
  if (options.json) return printJson({ url: page });
  printLine(`A token cannot manage tokens. Use the console: ${paint('bold', page)}`);
  if (options.browser && process.stdout.isTTY) openBrowser(page);
}
