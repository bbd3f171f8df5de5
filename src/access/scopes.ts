// The scope catalog: every `<group>:<action>`, with a description for people and the lowest role that may grant it.
import { isAtLeast, type OrgRole } from './roles.ts';

interface Group {
  name: string;
  /** Whether no operation requires these scopes yet: they can be granted, but no page or preset offers them. */
  isPlanned?: true;
  actions: Record<string, [description: string, requiredRole: OrgRole]>;
}

export const scopeGroups = {
  missions: {
    name: 'Missions',
    actions: {
      read: ['See missions, their progress and their cost.', 'viewer'],
      run: ['Start and steer missions, which spends credits.', 'member'],
    },
  },
  projects: {
    name: 'Projects',
    actions: {
      read: ['See every project of the organization.', 'viewer'],
      write: ['Create, change and delete projects.', 'admin'],
    },
  },
  agents: {
    name: 'Agents',
    actions: {
      read: ['See agents and the catalog.', 'viewer'],
      write: ['Create, change and delete agents.', 'admin'],
    },
  },
  'scheduled-tasks': {
    name: 'Scheduled tasks',
    actions: {
      read: ['See scheduled tasks and their runs.', 'viewer'],
      write: ['Create, change and delete scheduled tasks.', 'member'],
    },
  },
  automations: {
    name: 'Automations',
    actions: {
      read: ['See automations and their runs.', 'viewer'],
      write: ['Create, change and delete automations.', 'member'],
    },
  },
  sandboxes: {
    name: 'Sandboxes',
    actions: {
      read: ['See sandboxes, their metrics and logs.', 'viewer'],
      write: ['Kill sandboxes.', 'member'],
    },
  },
  environments: {
    name: 'Environments',
    actions: {
      read: ['See preview environments.', 'viewer'],
      write: ['Destroy preview environments.', 'member'],
    },
  },
  artifacts: {
    name: 'Artifacts',
    actions: { read: ['See and download proof of work.', 'viewer'] },
  },
  mcp: {
    name: 'MCP servers',
    actions: {
      read: ['See MCP server bindings.', 'viewer'],
      write: ['Bind, approve and remove MCP servers.', 'admin'],
    },
  },
  orchestrator: {
    name: 'Orchestrator',
    actions: {
      read: ['See orchestrator settings, budgets and spending.', 'viewer'],
      write: ['Change orchestrator settings, the daily cost cap and budgets.', 'admin'],
    },
  },
  integrations: {
    name: 'Integrations',
    actions: {
      read: ['See connected trackers, source hosts and language models.', 'viewer'],
      write: ['Connect and disconnect trackers, source hosts, language models and runtimes.', 'admin'],
    },
  },
  secrets: {
    name: 'Secrets',
    actions: {
      read: ['See the names of secrets and variables of agents.', 'admin'],
      write: ['Set and delete secrets and variables of agents.', 'admin'],
    },
  },
  organizations: {
    name: 'Organizations',
    actions: {
      read: ['See the organization.', 'viewer'],
      write: ['Create organizations of your own; as an admin, rename this one.', 'viewer'],
    },
  },
  members: {
    name: 'Members',
    actions: {
      read: ['See members and invites.', 'viewer'],
      write: ['Add members; send and revoke invites.', 'admin'],
    },
  },
  'sign-in': {
    name: 'Sign-in',
    actions: {
      read: ['See domains and identity providers.', 'admin'],
      write: ['Prove domains; connect and require identity providers.', 'owner'],
    },
  },
  audit: {
    name: 'Audit log',
    actions: { read: ['See who changed what, when and from where.', 'admin'] },
  },
  webhooks: {
    name: 'Webhooks',
    actions: {
      read: ['See webhook endpoints and what was sent to them.', 'admin'],
      write: ['Create, change and delete webhook endpoints; send events again.', 'admin'],
    },
  },
  billing: {
    name: 'Billing',
    actions: {
      read: ['See plan, credits and orders.', 'admin'],
      write: ['Buy credits and change the plan.', 'owner'],
    },
  },
  setup: {
    name: 'Setup',
    actions: {
      read: ['See setup progress and notices.', 'viewer'],
      write: ['Mark setup steps and dismiss notices.', 'member'],
    },
  },
} satisfies Record<string, Group>;

type Groups = typeof scopeGroups;
export type GrantableScope = {
  [G in keyof Groups & string]: `${G}:${keyof Groups[G]['actions'] & string}`;
}[keyof Groups];
/** `runtime:report` is for service principals only: no person can grant it, and the catalog omits it. */
export type Scope = GrantableScope | 'runtime:report';

export interface CatalogScope {
  scope: GrantableScope;
  description: string;
  requiredRole: OrgRole;
  /** Whether pages let people choose the scope, for example for a new token. */
  isOffered: boolean;
}

export const catalog: readonly CatalogScope[] = Object.entries<Group>(scopeGroups).flatMap(([key, group]) =>
  Object.entries(group.actions).map(([action, [description, requiredRole]]) => ({
    scope: `${key}:${action}` as GrantableScope,
    description,
    requiredRole,
    isOffered: !group.isPlanned,
  })),
);

const byScope = new Map<string, CatalogScope>(catalog.map((entry) => [entry.scope, entry]));

export const requiredRole = (scope: string): OrgRole | undefined => byScope.get(scope)?.requiredRole;
export const isGrantable = (scope: string): scope is GrantableScope => byScope.has(scope);

const ofRole = new Map<OrgRole, ReadonlySet<Scope>>();
/** All scopes of a role. */
export function scopesOfRole(role: OrgRole): ReadonlySet<Scope> {
  let scopes = ofRole.get(role);
  if (!scopes) {
    scopes = new Set(catalog.filter((entry) => isAtLeast(role, entry.requiredRole)).map((entry) => entry.scope));
    ofRole.set(role, scopes);
  }
  return scopes;
}

export const scopePresets = ['read', 'missions', 'all', 'docs'] as const;
export type ScopePreset = (typeof scopePresets)[number];

/**
 * Named sets of scopes. A token can have at most 25 scopes, so `all` omits those for billing, setup, secrets, sign-in, the audit log and
 * webhooks. `docs` contains the scopes that the commands in the documentation need.
 */
const presets: Readonly<Record<ScopePreset, (scope: string) => boolean>> = {
  read: (scope) => scope.endsWith(':read') && !/^(secrets|sign-in|audit|webhooks):/.test(scope),
  missions: (scope) => missionScopes.has(scope),
  all: (scope) => !/^(billing|setup|secrets|sign-in|audit|webhooks):/.test(scope),
  docs: (scope) =>
    !/^(?:(?:organizations|members|sandboxes|environments):write|(?:secrets|sign-in|audit|webhooks):\w+)$/.test(scope),
};

/** The scopes for setting up missions, running them and reading their results. */
const missionScopes: ReadonlySet<string> = new Set<GrantableScope>([
  'missions:read',
  'missions:run',
  'projects:read',
  'agents:read',
  'scheduled-tasks:read',
  'scheduled-tasks:write',
  'automations:read',
  'automations:write',
  'sandboxes:read',
  'sandboxes:write',
  'environments:read',
  'environments:write',
  'artifacts:read',
  'orchestrator:read',
  'integrations:read',
]);

/** The scopes of a preset that are also in `held`. */
export const presetScopes = (preset: ScopePreset, held: ReadonlySet<string>): GrantableScope[] =>
  catalog.map(({ scope }) => scope).filter((scope) => held.has(scope) && presets[preset](scope));

/** The presets that contain the scope. */
export const presetsOf = (scope: string): ScopePreset[] => scopePresets.filter((preset) => presets[preset](scope));
