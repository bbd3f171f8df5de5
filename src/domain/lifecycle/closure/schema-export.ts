// The export of a closed organization, in GraphQL only: the REST contract has no record for it.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, members, safeIntOrNull, string, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { createExportAddress } from '../../work/artifacts/address.ts';
import * as operations from './export.ts';
import { exportStatuses, type OrgExport } from './model.ts';

const ExportStatus = wordSet('OrganizationExportStatus', exportStatuses, 'Whether an export can be downloaded.', {
  preparing: 'The export is written once the closure is settled.',
  ready: 'The export can be downloaded.',
  failed: 'The last attempt failed. It is retried for a day, and when the export is requested again.',
});

const addressOf = ({ orgId, status }: OrgExport) => (status === 'ready' ? createExportAddress(orgId) : null);

const OrganizationExport = builder.objectRef<OrgExport>('OrganizationExport').implement({
  description:
    'The data of a closed organization: a zip archive with a file of JSON lines for each table, and `manifest.json` with the ' +
    'number of lines and the SHA-256 hash of each file. The archive is erased with the organization.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      status: typed(ExportStatus.type, 'Whether the export can be downloaded.'),
      requestedAt: epochMs('When the export was requested.'),
      url: t.string({
        nullable: true,
        description: 'Download URL, valid without a credential; null unless the export is ready.',
        resolve: (row) => addressOf(row)?.url ?? null,
      }),
      sizeBytes: safeIntOrNull('Size of the archive in bytes; null unless the export is ready.'),
      expiresAt: t.field({
        type: 'EpochMs',
        nullable: true,
        description:
          'When the URL expires, about an hour later; a repeated read returns a new URL. Null unless the export is ready.',
        resolve: (row) => addressOf(row)?.expiresAt ?? null,
      }),
    }),
});

builder.queryField('organizationExport', (t) =>
  t.field({
    description: 'The export of a closed organization, for its owners in the console; 404 when none was requested.',
    scope: 'organizations:read',
    type: OrganizationExport,
    args: { orgId: t.arg.string(pathId) },
    resolve: (_, { orgId }, { caller }) => operations.findExport(caller, orgId),
  }),
);

builder.mutationField('exportOrganization', (t) =>
  t.field({
    description:
      'Requests the data of a closed organization, within thirty days; 409 while it is open. Only an owner who is signed in to the console may do this. A repeated request returns the same export, unless it failed.',
    scope: 'person',
    type: OrganizationExport,
    args: { orgId: t.arg.string(pathId) },
    resolve: (_, { orgId }, { caller }) => operations.exportOrganization(caller, orgId),
  }),
);
