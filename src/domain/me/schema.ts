// Who am I, and what could be granted: the two questions that every caller may ask, even an agent that nobody has claimed
// (specification, Me and ScopeCatalog).
import { capabilities, capabilitiesOf } from '#access/authority.ts';
import { type Caller, principalTypes } from '#access/principal.ts';
import { type CatalogScope, catalog, scopeGroups } from '#access/scopes.ts';
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { OrgRole } from '../memberships/schema.ts';
import { OrganizationType } from '../organizations/schema.ts';
import { PersonType } from '../people/schema.ts';

const PrincipalType = wordSet('PrincipalType', principalTypes, 'What kind of caller stands behind a credential.');
const Capability = wordSet('Capability', capabilities, 'What a console may offer the caller.');

const Me = builder.objectRef<Caller>('Me').implement({
  description: 'The caller, as this credential makes it.',
  fields: (t) => ({
    principalType: t.expose('principalType', { type: PrincipalType.type }),
    userId: t.exposeString('userId', { nullable: true }),
    orgId: t.exposeString('orgId', { nullable: true }),
    role: t.expose('role', {
      type: OrgRole.type,
      nullable: true,
      description: 'The person’s present role; null for a caller that acts for nobody.',
    }),
    capabilities: t.field({ type: [Capability.type], resolve: capabilitiesOf }),
    scopes: t.stringList({
      description: 'What the credential may do now: its grant, cut down to what the role holds.',
      resolve: ({ scopes }) => [...scopes],
    }),
    projectId: t.exposeString('projectId', {
      nullable: true,
      description: 'Set when the credential is bound to one project.',
    }),
    organization: t.byId(OrganizationType, 'orgId', { link: 'organizations:read' }),
    person: t.byId(PersonType, 'userId', { link: 'members:read' }),
  }),
});

const ScopeEntry = builder.objectRef<CatalogScope>('ScopeEntry').implement({
  description: 'One thing that a credential can be allowed to do.',
  fields: (t) => ({
    scope: t.exposeString('scope', { description: '`<group>:<action>`.' }),
    description: t.exposeString('description'),
    requiredRole: t.expose('requiredRole', { type: OrgRole.type, description: 'The least role that may grant it.' }),
    grantable: t.boolean({
      description: 'Whether this caller could grant it now: a person who holds it. A token grants nothing.',
      resolve: ({ scope }, _args, { caller }) =>
        caller.principalType === 'cookie' && caller.role !== null && caller.scopes.has(scope),
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
  fields: (t) => ({
    key: t.exposeString('key'),
    name: t.exposeString('name'),
    scopes: t.expose('scopes', { type: [ScopeEntry] }),
  }),
});
const ScopeCatalog = builder.objectRef<{ groups: ScopeGroup[] }>('ScopeCatalog').implement({
  fields: (t) => ({ groups: t.expose('groups', { type: [ScopeGroupType] }) }),
});

builder.queryFields((t) => ({
  me: t.field({
    description: 'Who the caller is and what it may do.',
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
