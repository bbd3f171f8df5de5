// A saved view of the missions of an organization, which belongs to one person.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import type { RunGrouping, RunKind, RunStatus } from '../runs/model.ts';

export const viewLayouts = ['list', 'board'] as const;
export type ViewLayout = (typeof viewLayouts)[number];

/** The filters of a view, which have the same names as the filters of the runs list. An absent or null filter matches all runs. */
export interface ViewFilters {
  search?: string | null | undefined;
  projectId?: string | null | undefined;
  status?: RunStatus | null | undefined;
  agentId?: string | null | undefined;
  personId?: string | null | undefined;
  kind?: RunKind | null | undefined;
  needsPerson?: boolean | null | undefined;
  followed?: boolean | null | undefined;
}

export class MissionView extends table('mission_views', {
  id: column<Id<'missionView'>>(),
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  name: column<string>(),
  layout: column<ViewLayout>(),
  groupBy: column<RunGrouping | null>(),
  filters: column<ViewFilters>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'view';
  static override jsonAttributes = ['filters'];
  static override order = '"created_at", "id"';
}
