// The console: pages for people. One list of addresses; what goes wrong on any of them is a page too.
import { type Exchange, type Handler, redirect } from '#foundation/http.ts';
import { methodNotAllowed, toProblem } from '#foundation/problem.ts';
import { createConsent } from './consent.ts';
import { acceptOwnInvite, changeOwnName, createOwnOrganization, showHome, switchOrganization } from './home.ts';
import { answerProblemPage } from './layout.ts';
import { showMailbox } from './mailbox.ts';
import { createSendCode, enterCode, enterLink, showLink, showSignIn, signOut } from './sign-in.ts';
import { files } from './style.ts';

export interface ConsoleSettings {
  /** Told of every problem of ours (5xx) with its cause. */
  report(exchange: Exchange, error: unknown): void;
}

type Methods = Partial<Record<'GET' | 'POST', Handler>>;

export function createConsole({ report }: ConsoleSettings) {
  const { showConsent, decideConsent } = createConsent();
  const pages = new Map<string, Methods>([
    ['/console/style.css', { GET: async (exchange) => void (await files.answer(exchange, 'style.css')) }],
    ['/console/icon.svg', { GET: async (exchange) => void (await files.answer(exchange, 'icon.svg')) }],
    ['/sign-in', { GET: showSignIn, POST: createSendCode() }],
    ['/sign-in/code', { POST: enterCode }],
    ['/sign-in/link', { GET: showLink, POST: enterLink }],
    ['/sign-out', { POST: signOut }],
    ['/', { GET: (exchange) => redirect(exchange, '/console') }],
    ['/console', { GET: showHome }],
    ['/console/organization', { POST: switchOrganization }],
    ['/console/organizations', { POST: createOwnOrganization }],
    ['/console/invites/accept', { POST: acceptOwnInvite }],
    ['/console/name', { POST: changeOwnName }],
    ['/oauth/authorize', { GET: showConsent, POST: decideConsent }],
    ['/development/mailbox', { GET: showMailbox }],
  ]);

  async function handle(exchange: Exchange): Promise<void> {
    const page = pages.get(exchange.path)!;
    exchange.route = exchange.path;
    try {
      const method = exchange.req.method === 'HEAD' ? 'GET' : exchange.req.method;
      const handler = page[method as keyof Methods];
      if (!handler) throw methodNotAllowed([...Object.keys(page), ...(page.GET ? ['HEAD'] : [])].join(', '));
      await handler(exchange);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) report(exchange, error);
      answerProblemPage(exchange, problem);
    }
  }

  return { name: 'console', owns: (path: string) => pages.has(path), handle };
}
