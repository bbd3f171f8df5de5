// Visitors of the console over real HTTP. They act as browsers in which scripts are disabled: they keep cookies and submit forms.
import { developmentMailbox } from '#foundation/mail/mail.ts';
import { type Answer, openWorld } from './world.ts';

export type Headers = Record<string, string>;
export const own: Headers = { 'sec-fetch-site': 'same-origin' };

export async function openVisitorWorld() {
  const world = await openWorld({ trustProxy: true });

  let count = 0;
  const address = () => `visitor${++count}@example.com`;
  async function codeFor(to: string): Promise<string> {
    await world.delivered();
    return /\b\d{6}\b/.exec(developmentMailbox()!.find((mail) => mail.to === to)!.text)![0];
  }

  /** A browser: keeps its cookies, and sends the headers of a form on its current page. `from`: its IP address. */
  function browser(from?: string) {
    const jar = new Map<string, string>();
    const keep = (answer: Answer) => {
      for (const cookie of answer.headers.getSetCookie()) {
        const [name, value] = cookie.split(';')[0]!.split('=') as [string, string];
        if (/Max-Age=0/.test(cookie)) jar.delete(name);
        else jar.set(name, value);
      }
      return answer;
    };
    const headers = (more: Headers): Headers => ({
      ...(jar.size > 0 && { cookie: [...jar].map((pair) => pair.join('=')).join('; ') }),
      ...(from && { 'x-forwarded-for': from }),
      ...more,
    });
    return {
      /** The session cookie of this browser. */
      get cookie() {
        return [...jar].find(([name]) => /^(__Host-)?session$/.test(name))?.join('=') ?? '';
      },
      open: async (path: string, more: Headers = {}) =>
        keep(await world.request('GET', path, { headers: headers(more) })),
      async submit(path: string, fields: Record<string, string>, more: Headers = own) {
        const type = { 'content-type': 'application/x-www-form-urlencoded' };
        const body = new URLSearchParams(fields).toString();
        return keep(await world.request('POST', path, { headers: headers({ ...type, ...more }), body }));
      },
      /** The form token of a page. */
      async csrf(path = '/console/account') {
        return /name="csrf_token" value="([^"]+)"/.exec((await this.open(path)).body)![1]!;
      },
      async signIn(email: string, returnTo = '') {
        await this.submit('/sign-in', { email, return_to: returnTo });
        return this.submit('/sign-in/code', { email, code: await codeFor(email), return_to: returnTo });
      },
    };
  }

  const signedIn = async (email: string) => {
    const tab = browser();
    await tab.signIn(email);
    return tab;
  };
  return {
    world,
    address,
    codeFor,
    browser,
    signedIn,
    close: () => world.close(),
  };
}
