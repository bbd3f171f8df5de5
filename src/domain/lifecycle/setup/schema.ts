// Setup in all APIs (docs/contract.md#setup-and-notices).
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMsOrNull, int, members, string, typed, typedOrNull } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { range } from '#graph/validation.ts';
import { groupIds, guideIds, guideStep, milestoneIds } from './milestones.ts';
import { marks, milestoneStates } from './model.ts';
import * as operations from './operations.ts';
import { type Requirement as RequirementRecord, readRequirements, requirementIds } from './requirements.ts';

const MilestoneId = wordSet('SetupMilestoneId', milestoneIds, 'A milestone of setup.', {
  workspace: 'A project was created.',
  first_mission: 'A mission was completed.',
  first_review: 'A reviewer finished its work on a change.',
  first_merge: 'A change was merged.',
  preview_deployment: 'A preview environment became active.',
  agent_instructions: 'An agent got instructions of its own.',
  mcp_servers: 'An MCP server was bound to a project.',
  custom_sandbox:
    'An agent or a project chose a sandbox template of the organization. It belongs to no group and is not counted.',
  teammate: 'A second person joined.',
  steer_mission: 'A running mission got a message.',
  checkpoints: 'A mission returned to a checkpoint.',
  scheduled_task: 'A scheduled task was created.',
  agent_to_pr: 'A mission opened a pull request.',
});
const GroupId = wordSet('SetupGroupId', groupIds, 'A group of milestones.', {
  first_mission: 'Milestones up to the first merged change.',
  team: 'One-time setup of a team.',
  explore: 'Further features.',
});
const GuideId = wordSet('SetupGuideId', guideIds, 'A guide through pages of the console.');
const Mark = wordSet('SetupMark', marks, 'Mark that a person sets on a milestone or a group.', {
  done: 'The milestone counts as reached.',
  skipped: 'The milestone is not shown as the next step.',
  reset: 'Removes the mark.',
});
const MilestoneState = wordSet('SetupMilestoneState', milestoneStates, 'Whether a milestone is settled.', {
  open: 'The milestone is still to be reached.',
  done: 'The milestone was reached, or marked as done.',
  skipped: 'The milestone was marked as skipped and not reached.',
});

const SetupMilestone = builder.objectRef<operations.Milestone>('SetupMilestone').implement({
  description: 'A step of setup. It is reached when its event has occurred.',
  fields: (t) =>
    members(t, {
      id: typed(MilestoneId.type, 'The id of the milestone.'),
      name: string('The step as an instruction, for display.'),
      state: typed(
        MilestoneState.type,
        'State of the milestone. A milestone that was reached is `done`, regardless of its mark.',
      ),
      reachedAt: epochMsOrNull('When the milestone was reached or marked as done; null until then.'),
    }),
});

const counts = {
  reached: 'Number of milestones that are done.',
  total: 'Total number of milestones.',
};

const SetupGroupProgress = builder.objectRef<operations.GroupProgress>('SetupGroupProgress').implement({
  description: 'Progress of a group of milestones.',
  fields: (t) =>
    members(t, {
      reachedCount: int(counts.reached),
      totalCount: int(counts.total),
    }),
});

const SetupGroup = builder.objectRef<operations.Group>('SetupGroup').implement({
  description: 'Milestones that belong together.',
  fields: (t) =>
    members(t, {
      id: typed(GroupId.type, 'The id of the group.'),
      name: string('Name for people; programs use the id.'),
      reachedCount: int(counts.reached),
      totalCount: int(counts.total),
      milestones: typed([SetupMilestone], 'The milestones, in the order in which to do them.'),
    }),
});

const SetupGuide = builder.objectRef<operations.Guide>('SetupGuide').implement({
  description: 'Progress of the caller in a guide through the console.',
  fields: (t) =>
    members(t, {
      id: typed(GuideId.type, 'The id of the guide.'),
      step: int('The step that was last shown; 0 at the beginning.'),
      completedAt: epochMsOrNull('When the guide was completed; null until then.'),
    }),
});

const FirstMission = builder.objectRef<operations.FirstMission>('SetupFirstMission').implement({
  description: 'The first mission of the organization.',
  fields: (t) =>
    members(t, {
      issueId: string('The issue of the mission, as the tracker names it.'),
      orgSlug: string('The slug of the organization.'),
      url: string('The page of the mission’s run in the console.'),
    }),
});

const Requirement = wordSet('SetupRequirementId', requirementIds, 'Requirements before a mission can start.', {
  model: 'A language model: a connector with credentials, or a key of a runtime.',
  source_host: 'A source host with credentials, or the built-in one: agents read and push repositories there.',
});

const SetupRequirement = builder.objectRef<RequirementRecord>('SetupRequirement').implement({
  description: 'A requirement that must be met before a mission can start.',
  fields: (t) =>
    members(t, {
      id: typed(Requirement.type, 'The id of the requirement.'),
      isMet: boolean('Whether the requirement is met now.'),
    }),
});

const SetupProgress = builder.objectRef<operations.SetupProgress>('SetupProgress').implement({
  description: 'Progress of an organization in setting up the service.',
  fields: (t) =>
    members(t, {
      orgId: string('The id of the organization; starts with `org_`.'),
      reachedCount: int(counts.reached),
      totalCount: int(counts.total),
      complete: boolean('Whether every milestone is done or skipped.'),
      next: typedOrNull(MilestoneId.type, 'The first open milestone; null without one.'),
      activeGroup: typedOrNull(GroupId.type, 'The group of `next`; null when no milestone is open.'),
      activeGroupProgress: typedOrNull(
        SetupGroupProgress,
        'How many milestones of `activeGroup` are done, and how many milestones the group has; null when no milestone is open.',
      ),
      groups: typed([SetupGroup], 'The groups of milestones, in the recommended order.'),
      requirements: t.field({
        type: [SetupRequirement],
        beyondRest: true,
        description: 'The requirements of agents, in the order in which to connect them.',
        resolve: ({ orgId }) => readRequirements(orgId),
      }),
      firstMission: typedOrNull(
        FirstMission,
        'The oldest mission of the organization that has begun. A mission has begun when its run has an issue. Null until a mission has begun.',
      ),
      guides: typed(
        [SetupGuide],
        'Progress of the caller in each guide through the console; step 0 for a caller that is not a person.',
      ),
    }),
});

const markRequest = (name: string, what: string) =>
  request(
    name,
    z
      .object({ mark: Mark.zod.describe(`The mark to set on ${what}.`) })
      .meta({ description: `Marks ${what}.`, examples: [{ mark: 'skipped' }] }),
  );

const UpdateSetupMilestoneRequest = markRequest('UpdateSetupMilestoneRequest', 'a milestone');
const UpdateSetupGroupRequest = markRequest('UpdateSetupGroupRequest', 'the open milestones of a group');
const UpdateSetupGuideRequest = request(
  'UpdateSetupGuideRequest',
  z
    .object({
      step: z
        .number()
        .int()
        .min(guideStep.min)
        .max(guideStep.max)
        .describe(`The step that is shown, ${range(guideStep)}.`),
      completed: z.boolean().default(false).describe('Whether the guide is completed; false opens it again.'),
    })
    .meta({ description: 'Progress of the caller in a guide.', examples: [{ step: 3, completed: false }] }),
);

builder.queryField('setup', (t) =>
  t.field({
    description: 'Progress of the organization in setting up the service.',
    scope: 'setup:read',
    rest: 'GET /setup',
    tool: 'get_setup',
    type: SetupProgress,
    resolve: (_, _args, { caller }) => operations.readSetup(caller),
  }),
);

builder.mutationFields((t) => ({
  updateSetupMilestone: t.field({
    description: 'Marks a milestone as done or skipped, or removes the mark. A reached milestone stays done.',
    scope: 'setup:write',
    rest: 'PATCH /setup/milestones/{milestoneId}',
    type: SetupProgress,
    args: {
      milestoneId: t.arg.string({ ...pathId, description: 'A `SetupMilestoneId`. Any other value returns 404.' }),
      input: t.arg({ type: UpdateSetupMilestoneRequest, required: true, description: 'The mark.' }),
    },
    resolve: (_, { milestoneId, input }, { caller }) => operations.markMilestone(caller, milestoneId, input.mark),
  }),
  updateSetupGroup: t.field({
    description: 'Marks the open milestones of a group as done or skipped, or removes all marks of the group.',
    scope: 'setup:write',
    rest: 'PATCH /setup/groups/{groupId}',
    type: SetupProgress,
    args: {
      groupId: t.arg.string({ ...pathId, description: 'A `SetupGroupId`. Any other value returns 404.' }),
      input: t.arg({ type: UpdateSetupGroupRequest, required: true, description: 'The mark.' }),
    },
    resolve: (_, { groupId, input }, { caller }) => operations.markGroup(caller, groupId, input.mark),
  }),
  updateSetupGuide: t.field({
    description: 'Records the step that the caller has reached in a guide.',
    scope: 'setup:write',
    rest: 'PATCH /setup/guides/{guideId}',
    type: SetupProgress,
    args: {
      guideId: t.arg.string({ ...pathId, description: 'A `SetupGuideId`. Any other value returns 404.' }),
      input: t.arg({ type: UpdateSetupGuideRequest, required: true, description: 'The step.' }),
    },
    resolve: (_, { guideId, input }, { caller }) => operations.updateGuide(caller, guideId, input),
  }),
}));
