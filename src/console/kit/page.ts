// Data that the server wrote into the page: the person and their scopes, the server's time, and the heading.

const root = document.getElementById('application')!;
const { csrf = '', scopes = '', api = '', org = '', base = '', person = '', now: sent = '' } = root.dataset;

export { api, base, csrf, org, person, root };

/** The title that the server put into the page. It is shown until the page's own code has loaded the title. */
export const firstTitle = root.querySelector('h1')?.textContent ?? '';

/** The URL of a page of the organization, such as `/runs`. */
export const pageAt = (path: string): string => base + path;

const held = new Set(scopes.split(' '));
/** Whether the person has the scope; actions beyond it are not offered. */
export const may = (scope: string): boolean => held.has(scope);

/** Clocks of clients may be wrong: times are relative to the server's. */
const skew = Number(sent) - Date.now();
export const now = (): number => Date.now() + skew;
