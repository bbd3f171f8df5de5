// What the server says about the person: who may do what, what time it is there, and the heading that it wrote.

const root = document.getElementById('application')!;
const { csrf = '', scopes = '', api = '', org = '', base = '', person = '', now: sent = '' } = root.dataset;

export { api, base, csrf, org, person, root };

/** The title of the page that the server sent; shown until the page has read it itself. */
export const firstTitle = root.querySelector('h1')?.textContent ?? '';

/** The address of a page of the organization, such as `/runs`. */
export const pageAt = (path: string): string => base + path;

const held = new Set(scopes.split(' '));
/** Whether the person holds the scope: what they may not do is not offered. */
export const may = (scope: string): boolean => held.has(scope);

/** Clocks of clients may be wrong: times are relative to the server's. */
const skew = Number(sent) - Date.now();
export const now = (): number => Date.now() + skew;
