// What the server says about the page that this runs in: which one it is, of what, who may do what, and what time it is there.

const root = document.getElementById('dashboard')!;
const { page = '', id = '', csrf = '', scopes = '', api = '', now: sent = '' } = root.dataset;

export { api, csrf, id, page, root };

const held = new Set(scopes.split(' '));
/** Whether the person holds the scope: what they may not do is not offered. */
export const may = (scope: string): boolean => held.has(scope);

/** Clocks of clients may be wrong: times are relative to the server's. */
const skew = Number(sent) - Date.now();
export const now = (): number => Date.now() + skew;
