// The team setting of a project as a GraphQL field and a tool.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { updateProject } from './operations.ts';
import { ProjectType } from './schema.ts';

builder.objectField(ProjectType, 'hasTeam', (t) =>
  t.exposeBoolean('hasTeam', {
    nullable: true,
    graphOnly: true,
    description:
      'Whether builders work with a planner, a reviewer and QA: for each role an agent of the organization or, without one, the ' +
      'built-in agent. False means that builders work without them; null means that builders ' +
      'work with the organization’s own agents of these roles.',
  }),
);

builder.mutationFields((t) => ({
  setProjectTeam: t.field({
    description:
      'Turns the team of a project on or off: whether builders of its missions work with a planner, a reviewer and QA. It applies to ' +
      'missions that name no agent and have not begun.',
    scope: 'projects:write',
    tool: { name: 'set_project_team', idempotent: true },
    type: ProjectType,
    args: {
      projectId: t.arg.string(pathId),
      hasTeam: t.arg.boolean({
        description:
          'True adds a planner, a reviewer and QA: for each role an agent of the organization or, without one, the built-in agent. False ' +
          'adds none of them. Null adds only those of the three roles for which the organization has an agent of its own.',
      }),
    },
    resolve: (_, { projectId, hasTeam = null }, { caller }) => updateProject(caller, projectId, { hasTeam }),
  }),
}));
