// The milestones of setup by group, and the guides, in the order in which they are shown (docs/contract.md#setup-and-notices).

/**
 * The setup milestones of the contract. The groups below do not contain `custom_sandbox`, because the built-in template is enough for
 * most organizations.
 */
export const milestoneIds = [
  'workspace',
  'first_mission',
  'first_review',
  'first_merge',
  'preview_deployment',
  'agent_instructions',
  'mcp_servers',
  'custom_sandbox',
  'teammate',
  'steer_mission',
  'checkpoints',
  'scheduled_task',
  'agent_to_pr',
] as const;
export type MilestoneId = (typeof milestoneIds)[number];

export const groupIds = ['first_mission', 'team', 'explore'] as const;
export type GroupId = (typeof groupIds)[number];

export const guideIds = ['mission-control', 'mission-detail', 'mission-results'] as const;
export type GuideId = (typeof guideIds)[number];

/** Limits of the step number that a person has reached in a guide (docs/contract.md#limits). */
export const guideStep = { min: 0, max: 20 } as const;

interface Group {
  id: GroupId;
  name: string;
  milestones: readonly { id: MilestoneId; name: string }[];
}

export const groups: readonly Group[] = [
  {
    id: 'first_mission',
    name: 'First mission',
    milestones: [
      { id: 'workspace', name: 'Create a project' },
      { id: 'first_mission', name: 'Complete a mission' },
      { id: 'first_review', name: 'Have a change reviewed' },
      { id: 'first_merge', name: 'Merge a change' },
    ],
  },
  {
    id: 'team',
    name: 'Set up for your team',
    milestones: [
      { id: 'preview_deployment', name: 'Open a preview environment' },
      { id: 'agent_instructions', name: 'Give an agent instructions' },
      { id: 'mcp_servers', name: 'Connect an MCP server' },
      { id: 'teammate', name: 'Invite a teammate' },
    ],
  },
  {
    id: 'explore',
    name: 'Explore',
    milestones: [
      { id: 'steer_mission', name: 'Steer a running mission' },
      { id: 'checkpoints', name: 'Return to a checkpoint' },
      { id: 'scheduled_task', name: 'Schedule a task' },
      { id: 'agent_to_pr', name: 'Open a pull request' },
    ],
  },
];

export const isMilestone = (id: string): id is MilestoneId => (milestoneIds as readonly string[]).includes(id);
export const isGuide = (id: string): id is GuideId => (guideIds as readonly string[]).includes(id);
