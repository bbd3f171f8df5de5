// Integrations on every surface (specification, Integration).
import type { Row } from '#foundation/base-model.ts';
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { Integration, vendorKinds, vendorNames } from './model.ts';
import { listIntegrations } from './operations.ts';

export const VendorKind = wordSet('VendorKind', vendorKinds, 'What a connector is for.');
const Vendor = wordSet('Vendor', vendorNames, 'Who is connected.');

export const IntegrationType = builder.modelType(Integration, 'Integration').implement({
  description: 'A tracker, a source host or a language model that projects connect to.',
  fields: (t) => ({
    id: t.exposeString('id'),
    orgId: t.exposeString('orgId'),
    vendor: t.expose('vendor', { type: Vendor.type }),
    vendorKind: t.expose('vendorKind', { type: VendorKind.type }),
    externalOrgId: t.exposeString('externalOrgId', { nullable: true }),
    displayName: t.exposeString('displayName'),
    createdAt: t.expose('createdAt', { type: 'EpochMs' }),
    updatedAt: t.expose('updatedAt', { type: 'EpochMs' }),
    organization: t.belongsTo('organization', { link: 'organizations:read' }),
  }),
});

const IntegrationList = builder.objectRef<{ integrations: Row<Integration>[] }>('IntegrationList').implement({
  fields: (t) => ({ integrations: t.expose('integrations', { type: [IntegrationType] }) }),
});

builder.queryField('integrations', (t) =>
  t.field({
    description: 'The trackers, source hosts and language models that the organization has connected.',
    scope: 'integrations:read',
    rest: 'GET /integrations',
    tool: 'list_integrations',
    type: IntegrationList,
    resolve: async (_, _args, { caller }) => ({ integrations: await listIntegrations(caller) }),
  }),
);
