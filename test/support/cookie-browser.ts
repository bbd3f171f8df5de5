// A browser without scripts: it keeps cookies, visits pages as if it followed a link on the same site, and submits forms.
import type { Answer, Session, World } from './world.ts';

/** A browser is represented by its cookies: a map from the name of each cookie to its value. */
export type Browser = Map<string, string>;
export const browserOf = (session?: Session): Browser => new Map(session ? [['session', session.secret]] : []);

export async function visitPage(
  world: Pick<World, 'request'>,
  browser: Browser,
  path: string,
  form?: Record<string, string>,
  site = 'same-origin',
): Promise<Answer> {
  const headers = {
    cookie: [...browser].map(([name, value]) => `${name}=${value}`).join('; '),
    'sec-fetch-site': site,
    ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const body = form && new URLSearchParams(form).toString();
  const answer = await world.request(form ? 'POST' : 'GET', path, { headers, body });
  for (const cookie of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
    if (value) browser.set(name!, value);
    else browser.delete(name!);
  }
  return answer;
}
