// The effect policy of a project as a GraphQL field and a tool.
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { EffectPolicyType, effectPolicy } from '../effects/schema-policy.ts';
import { updateProject } from './operations.ts';
import { ProjectType } from './schema.ts';

builder.objectField(ProjectType, 'effectPolicy', (t) =>
  t.field({
    type: EffectPolicyType,
    nullable: true,
    graphOnly: true,
    description: 'Policy that decides which outside effects of missions wait for approval; null means that none waits.',
    resolve: ({ effectPolicy: policy }) => policy,
  }),
);

const EffectPolicyInput = request('EffectPolicyInput', effectPolicy);

builder.mutationFields((t) => ({
  setProjectEffectPolicy: t.field({
    description:
      'Sets which outside effects of missions of a project wait for approval: they are staged, and carried out once they are approved ' +
      '(`approveOutsideEffects`). The policy applies at once, even to open runs. Policies of sandbox templates and of recurring missions apply too.',
    scope: 'projects:write',
    tool: { name: 'set_project_effect_policy', idempotent: true },
    type: ProjectType,
    args: {
      projectId: t.arg.string(pathId),
      policy: t.arg({ type: EffectPolicyInput, description: 'The policy; absent means that nothing waits.' }),
    },
    resolve: (_, { projectId, policy = null }, { caller }) =>
      updateProject(caller, projectId, { effectPolicy: policy && policy.waits.length > 0 ? policy : null }),
  }),
}));
