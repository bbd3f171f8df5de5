// GraphQL types for saved views of missions.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { booleanOrNull, epochMs, members, string, stringOrNull, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { Grouping } from '../runs/schema.ts';
import { RunKind, RunStatus } from '../runs/schema-common.ts';
import { maxViews, viewText } from './bounds.ts';
import { MissionView, type ViewFilters, viewLayouts } from './model.ts';
import * as operations from './operations.ts';

const Layout = wordSet('MissionViewLayout', viewLayouts, 'How the missions of a view are shown.', {
  list: 'Rows, in groups if the view has them.',
  board: 'A column for each group.',
});

const FiltersType = builder.objectRef<ViewFilters>('MissionViewFilters').implement({
  description: 'The filters of a view, as arguments of `runs`.',
  fields: (t) =>
    members(t, {
      search: stringOrNull('The words to search for; null for none.'),
      projectId: stringOrNull('The project; null for all.'),
      status: typedOrNull(RunStatus.type, 'The status; null for all.'),
      agentId: stringOrNull('The agent; null for all.'),
      personId: stringOrNull('The person; null for all.'),
      kind: typedOrNull(
        RunKind.type,
        'Only missions that the schedule has started, or only missions that a person has started; null for all.',
      ),
      followed: booleanOrNull('Whether only missions that the person follows are shown; null means false.'),
      needsPerson: booleanOrNull('Whether only missions that wait for a person to act are shown; null means false.'),
    }),
});

const ViewType = builder.modelType(MissionView, 'MissionView').implement({
  description: 'A person’s saved view of missions. Nobody else sees it.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `viw_`.'),
      name: string('The name, unique among the views of the person.'),
      layout: typed(Layout.type, 'How the missions are shown.'),
      groupBy: typedOrNull(
        Grouping.type,
        'The value by which missions are grouped. Null means no groups in a list, and groups by status on a board.',
      ),
      filters: typed(FiltersType, 'The filters.'),
      createdAt: epochMs('When the view was saved.'),
      updatedAt: epochMs('When it last changed.'),
    }),
});

const ViewList = builder.objectRef<{ views: MissionView[] }>('MissionViewList').implement({
  description: 'The views of a person.',
  fields: (t) => members(t, { views: typed([ViewType], 'The views, oldest first.') }),
});

const filterText = boundedText(viewText.filter).nullish();
const MissionViewRequest = request(
  'MissionViewRequest',
  z
    .object({
      name: nameText(viewText.name).describe(`The name, ${range(viewText.name)} characters.`),
      layout: Layout.zod.describe('How the missions are shown.'),
      groupBy: Grouping.zod.nullish().describe('The groups; absent for none.'),
      filters: z
        .object({
          search: filterText.describe('The words.'),
          projectId: filterText.describe('The project.'),
          status: RunStatus.zod.nullish().describe('The status.'),
          agentId: filterText.describe('The agent.'),
          personId: filterText.describe('The person.'),
          kind: RunKind.zod.nullish().describe('Whether the schedule or a person started the missions.'),
          followed: z.boolean().nullish().describe('True: only missions that the person follows.'),
          needsPerson: z.boolean().nullish().describe('True: only missions that wait for a person to act.'),
        })
        .describe('The filters; an absent one means any.'),
    })
    .meta({
      description: 'A view of missions.',
      examples: [{ name: 'Failed in Shop', layout: 'list', groupBy: 'agent', filters: { status: 'failed' } }],
    }),
);
const input = { type: MissionViewRequest, required: true, description: 'The whole view.' } as const;
const viewOf = ({
  groupBy = null,
  ...view
}: Omit<operations.NewView, 'groupBy'> & { groupBy?: operations.NewView['groupBy'] | undefined }) => ({
  ...view,
  groupBy,
});

const DeleteMissionViewResponse = okIdAnswer('DeleteMissionViewResponse');

builder.queryField('missionViews', (t) =>
  t.field({
    description: 'The views that the caller has saved in the organization, oldest first.',
    scope: 'missions:read',
    type: ViewList,
    resolve: async (_, _args, { caller }) => ({ views: await operations.listViews(caller) }),
  }),
);

builder.mutationFields((t) => ({
  createMissionView: t.field({
    description: `Saves a view for the caller, who can have at most ${maxViews} in the organization.`,
    scope: 'missions:read',
    type: ViewType,
    args: { input: t.arg(input) },
    resolve: (_, { input }, { caller }) => operations.createView(caller, viewOf(input)),
  }),
  updateMissionView: t.field({
    description: 'Replaces a view of the caller.',
    scope: 'missions:read',
    type: ViewType,
    args: { viewId: t.arg.string({ ...pathId, description: 'The id of the view.' }), input: t.arg(input) },
    resolve: (_, { viewId, input }, { caller }) => operations.updateView(caller, viewId, viewOf(input)),
  }),
  deleteMissionView: t.field({
    description: 'Deletes a view of the caller.',
    scope: 'missions:read',
    type: DeleteMissionViewResponse,
    args: { viewId: t.arg.string({ ...pathId, description: 'The id of the view.' }) },
    resolve: (_, { viewId }, { caller }) => operations.deleteView(caller, viewId),
  }),
}));
