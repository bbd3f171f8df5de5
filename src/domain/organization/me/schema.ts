// The caller and the scope catalog: the two reads that every caller may make, including an unclaimed agent
// (docs/contract.md#me-and-scopes).
import { capabilities, capabilitiesOf } from '#access/authority.ts';
import { type Caller, principalTypes } from '#access/principal.ts';
import { type CatalogScope, catalog, presetsOf, scopeGroups, scopePresets } from '#access/scopes.ts';
import { builder } from '#graph/builder.ts';
import { members, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { OrgRole } from '../memberships/schema.ts';
import { OrganizationType } from '../organizations/schema.ts';
import { PersonType } from '../people/schema.ts';

const PrincipalType = wordSet(
  'PrincipalType',
  principalTypes,
  'The kind of caller. `cookie`: a person in the console. `user`: a credential that acts for a person. `service`: an internal ' +
    'service. `system`: the service itself. `agent`: an unclaimed agent.',
  {
    cookie: 'A person who is signed in to the console.',
    user: 'A token that acts for a person.',
    service: 'An internal service, such as a runtime.',
    system: 'The service itself.',
    agent: 'An unclaimed agent.',
  },
);
const Capability = wordSet(
  'Capability',
  capabilities,
  'Actions that a console may offer the caller without interpreting scopes.',
);

const Me = builder.objectRef<Caller>('Me').implement({
  description: 'The caller of this request: the person it acts for, the organization, and the permitted actions.',
  fields: (t) =>
    members(t, {
      principalType: typed(PrincipalType.type, 'The kind of the caller.'),
      userId: stringOrNull('The person that the caller acts for; null for a service and for an unclaimed agent.'),
      orgId: stringOrNull('The organization of this request; null for a caller that belongs to none.'),
      role: typedOrNull(
        OrgRole.type,
        'The person’s present role in the organization; null for a caller that does not act for a person.',
      ),
      capabilities: t.field({
        description:
          'The actions that the caller may take. A credential that is bound to a project has at most `missions.run`.',
        type: [Capability.type],
        resolve: capabilitiesOf,
      }),
      scopes: t.stringList({
        description:
          'The effective scopes of the credential: its granted scopes, limited to those of the person’s present role.',
        resolve: ({ scopes }) => [...scopes],
      }),
      projectId: stringOrNull(
        'The only project that the credential reaches; null when it reaches the whole organization.',
      ),
      organization: t.byId(OrganizationType, 'orgId', {
        link: 'organizations:read',
        description: 'The organization of this request.',
      }),
      person: t.byId(PersonType, 'userId', {
        link: 'members:read',
        description: 'The person that the caller acts for.',
      }),
    }),
});

const ScopePreset = wordSet('ScopePreset', scopePresets, 'A named set of scopes to start a token from.', {
  read: 'Every scope that only reads.',
  missions: 'Scopes to set up, run and observe missions.',
  all: 'Every scope but those of billing and setup.',
  docs: 'Scopes for the commands of the documentation, including billing and setup.',
});

const ScopeEntry = builder.objectRef<CatalogScope>('ScopeEntry').implement({
  description: 'A scope: one permission that a credential can have.',
  fields: (t) =>
    members(t, {
      scope: string('The scope as tokens name it, `<group>:<action>`.'),
      description: string('Description of the scope, for people.'),
      requiredRole: typed(OrgRole.type, 'The lowest role that may grant the scope.'),
      grantable: t.boolean({
        description:
          'Whether the caller could grant the scope now: true for a person in the console whose role includes it, never for a token.',
        resolve: ({ scope }, _args, { caller }) =>
          caller.principalType === 'cookie' && caller.role !== null && caller.scopes.has(scope),
      }),
      presets: t.field({
        type: [ScopePreset.type],
        graphOnly: true,
        description:
          'The presets that contain the scope. A token gets only scopes that the role of its person includes.',
        resolve: ({ scope }) => presetsOf(scope),
      }),
    }),
});

interface ScopeGroup {
  key: string;
  name: string;
  scopes: CatalogScope[];
}

const groups: ScopeGroup[] = Object.entries(scopeGroups).map(([key, { name }]) => ({
  key,
  name,
  scopes: catalog.filter(({ scope }) => scope.startsWith(`${key}:`)),
}));

const ScopeGroupType = builder.objectRef<ScopeGroup>('ScopeGroup').implement({
  description: 'The scopes of one kind of record.',
  fields: (t) =>
    members(t, {
      key: string('The prefix of the group’s scopes, before the colon.'),
      name: string('The name of the group, for people.'),
      scopes: typed([ScopeEntry], 'The scopes of the group. The list begins with the scope that allows reading.'),
    }),
});
const ScopeCatalog = builder.objectRef<{ groups: ScopeGroup[] }>('ScopeCatalog').implement({
  description: 'All scopes that a person can grant.',
  fields: (t) =>
    members(t, {
      groups: typed([ScopeGroupType], 'Always the same groups, in the same order.'),
    }),
});

builder.queryFields((t) => ({
  me: t.field({
    description: 'The caller and what it may do. Open to every caller, including an unclaimed agent.',
    scope: 'any-caller',
    rest: 'GET /me',
    tool: 'get_me',
    type: Me,
    resolve: (_, _args, { caller }) => caller,
  }),
  scopes: t.field({
    description: 'Every scope, the role it requires, and whether the caller could grant it.',
    scope: 'any-caller',
    rest: 'GET /scopes',
    tool: 'list_scopes',
    type: ScopeCatalog,
    resolve: () => ({ groups }),
  }),
}));
