// The team setting of a project as GraphQL field and tool.
import { builder } from '#graph/builder.ts';
import { pathId } from '#graph/input.ts';
import { updateProject } from './operations.ts';
import { ProjectType } from './schema.ts';

builder.objectField(ProjectType, 'hasTeam', (t) =>
  t.exposeBoolean('hasTeam', {
    nullable: true,
    graphOnly: true,
    description:
      'Whether builders work with a planner, a reviewer and QA: agents of the organization, else the built-in ones. False means that builders work without them; null means that builders ' +
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
          'True adds agents of the organization, else the built-in ones; false adds none; null adds the organization’s own agents of these roles.',
      }),
    },
    resolve: (_, { projectId, hasTeam = null }, { caller }) => updateProject(caller, projectId, { hasTeam }),
  }),
}));
