// The pages of the console, by path: shared by the server, the browser's router, the menu and the palette. Imports nothing, because both
// the server and the browser load it.

export type MenuGroup = 'work' | 'organization' | 'you';

interface PageEntry {
  /** The page title; the page of a record has the record's title. */
  title?: string;
  /** Scopes, any one of which admits the person. */
  scopes: readonly string[];
  /** The menu group that lists the page. The menu shows `label`, or `title` if there is no label. */
  menu?: MenuGroup;
  label?: string;
  /** Actions that the command palette offers and that a person begins on this page: the scope that each requires, and its name. */
  actions?: readonly (readonly [scope: string, name: string])[];
}

/** Pages of an organization, below `/console/o/{slug}`. `:id` is the id of a record. */
export const organizationPages = {
  '/inbox': { title: 'Inbox', scopes: ['missions:read'], menu: 'work' },
  '/overview': { title: 'Overview', scopes: ['missions:read'], menu: 'work' },
  '/projects': { title: 'Projects', scopes: ['projects:read'], menu: 'work' },
  '/projects/new': {
    title: 'Create a project',
    scopes: ['projects:write'],
    actions: [['projects:write', 'Create a project']],
  },
  '/projects/:id': { scopes: ['projects:read'] },
  '/projects/:id/settings': { title: 'Project settings', scopes: ['projects:write'] },
  '/projects/:id/mcp': { title: 'MCP servers', scopes: ['mcp:read'] },
  '/runs': { title: 'Missions', scopes: ['missions:read'], menu: 'work' },
  '/runs/new': {
    title: 'Start a mission',
    scopes: ['missions:run'],
    actions: [['missions:run', 'Start a mission']],
  },
  '/runs/:id': { scopes: ['missions:read'] },
  '/runs/:id/changes': { scopes: ['missions:read'] },
  '/runs/:id/replay': { scopes: ['sandboxes:read'] },
  '/runs/:id/terminal': { scopes: ['missions:run'] },
  '/attempts/:id': { scopes: ['missions:read'] },
  '/sandboxes/:id': { scopes: ['sandboxes:read'] },
  '/schedules': { title: 'Schedules', scopes: ['scheduled-tasks:read'], menu: 'work' },
  '/tasks/new': {
    title: 'Create a scheduled task',
    scopes: ['scheduled-tasks:write'],
    actions: [['scheduled-tasks:write', 'Create a scheduled task']],
  },
  '/tasks/:id': { scopes: ['scheduled-tasks:read'] },
  '/automations/new': {
    title: 'Create an automation',
    scopes: ['automations:write'],
    actions: [['automations:write', 'Create an automation']],
  },
  '/automations/:id': { scopes: ['automations:read'] },
  '/agents': { title: 'Agents', scopes: ['agents:read'], menu: 'work' },
  '/agents/new': {
    title: 'Create an agent',
    scopes: ['agents:write'],
    actions: [['agents:write', 'Create an agent']],
  },
  '/agents/:id': { scopes: ['agents:read'] },
  '/templates': { title: 'Sandbox templates', scopes: ['agents:read'], menu: 'work' },
  '/templates/new': {
    title: 'Create a sandbox template',
    scopes: ['agents:write'],
    actions: [['agents:write', 'Create a sandbox template']],
  },
  '/templates/:id': { scopes: ['agents:read'] },
  '/runtimes': {
    title: 'Runtimes',
    scopes: ['agents:read'],
    menu: 'work',
    actions: [['integrations:write', 'Connect a runtime']],
  },
  '/quality': { title: 'Quality', scopes: ['missions:read'], menu: 'work' },
  '/artifacts': { title: 'Artifacts', scopes: ['artifacts:read'], menu: 'work' },
  '/issues': { title: 'Issues', scopes: ['missions:read'], menu: 'work' },
  '/issues/new': {
    title: 'New issue',
    scopes: ['missions:run', 'projects:read'],
    actions: [['missions:run', 'Write an issue']],
  },
  '/issues/:id': { scopes: ['missions:read'] },
  '/members': {
    title: 'Members',
    scopes: ['members:read'],
    menu: 'organization',
    actions: [['members:write', 'Invite somebody']],
  },
  '/directory': { title: 'Directory', scopes: ['members:write'], menu: 'organization' },
  '/integrations': {
    title: 'Integrations',
    scopes: ['integrations:read'],
    menu: 'organization',
    actions: [['integrations:write', 'Connect an integration']],
  },
  '/hooks': {
    title: 'Inbound hooks',
    scopes: ['integrations:read'],
    menu: 'organization',
    actions: [['integrations:write', 'Create an inbound hook']],
  },
  '/hooks/:id': { scopes: ['integrations:read'] },
  '/mcp': { title: 'MCP servers', scopes: ['mcp:read'], menu: 'organization' },
  '/secrets': {
    title: 'Secrets and variables',
    // The page is also shown to members without `secrets:read`, and tells them whom to ask.
    scopes: ['secrets:read', 'agents:read'],
    menu: 'organization',
    label: 'Secrets',
    actions: [['secrets:write', 'Add a secret or variable']],
  },
  '/billing': {
    title: 'Billing',
    scopes: ['billing:read', 'missions:run'],
    menu: 'organization',
    actions: [['billing:write', 'Buy credits']],
  },
  '/billing/buy': { title: 'Buy credits', scopes: ['billing:write'] },
  '/billing/ledger': { title: 'Ledger', scopes: ['billing:read'] },
  '/webhooks': {
    title: 'Webhooks',
    scopes: ['webhooks:read'],
    menu: 'organization',
    actions: [['webhooks:write', 'Create a webhook endpoint']],
  },
  '/webhooks/:id': { scopes: ['webhooks:read'] },
  '/sign-in': {
    title: 'Sign-in',
    scopes: ['sign-in:read'],
    menu: 'organization',
    actions: [['sign-in:write', 'Connect an identity provider']],
  },
  '/audit': { title: 'Audit log', scopes: ['audit:read'], menu: 'organization' },
  '/settings': {
    title: 'Settings',
    scopes: ['organizations:read'],
    menu: 'organization',
    actions: [['orchestrator:write', 'Change the daily cost cap']],
  },
  '/tokens': { title: 'Personal access tokens', scopes: ['person'], menu: 'you', label: 'Tokens' },
  '/connected-agents': { title: 'Connected agents', scopes: ['person'], menu: 'you' },
  '/notifications': { title: 'Notifications', scopes: ['person'], menu: 'you' },
} as const satisfies Record<string, PageEntry>;

export type PageAddress = keyof typeof organizationPages;

/** All pages of an organization with their URLs. */
export const pageEntries = Object.entries(organizationPages) as [PageAddress, PageEntry][];

export const accountAddress = '/console/account';

/** Pages of a person, independent of the organization. */
export const personPages = [
  ['/console/sessions', 'Sessions'],
  ['/console/passkeys', 'Passkeys'],
  [accountAddress, 'Account'],
] as const;

/** The page of the installation, for the people who run it. */
export const operationsAddress = '/console/operations';

/** Returns a pattern for the URLs of a page. The first group of the pattern matches the id of the record. */
export const patternOf = (address: string, base = ''): RegExp =>
  new RegExp(`^${base}${address.replace(':id', '([^/?#]+)')}$`);

/** Lists of records whose pages have another first part of the address than the list. */
const lists: Readonly<Record<string, PageAddress>> = {
  '/tasks': '/schedules',
  '/automations': '/schedules',
  '/attempts': '/runs',
  '/sandboxes': '/runs',
};

/** The address of the list to which the page belongs, if there is such a list. */
const listOf = (address: string): string => {
  const first = `/${address.split('/')[1]}`;
  return lists[first] ?? first;
};

/**
 * Returns the value of `aria-current` for the menu entry with the URL `entry`: `page` on the entry's own page, `true` on a page that belongs
 * to it, such as the page of a record or the result of a form, and null elsewhere.
 */
export function menuMarkOf(path: string, entry: string): 'page' | 'true' | null {
  if (path === entry) return 'page';
  const base = /^\/console(?:\/o\/[^/]+)?/.exec(path)?.[0] ?? '';
  return path.startsWith(`${entry}/`) || base + listOf(path.slice(base.length)) === entry ? 'true' : null;
}

/**
 * Returns the page that a person gets when switching from this page to another organization. It is the same page. In place of the page of
 * one record, it is the list of such records, or the inbox if there is no such list.
 */
export function nearestPage(address: string): PageAddress {
  const names = [address, listOf(address)];
  const isFixed = (name: string): name is PageAddress => name in organizationPages && !name.includes(':');
  return names.find(isFixed) ?? '/inbox';
}
