// GraphQL types for the effect policy. Projects, sandbox templates and recurring missions have a field that contains such a policy.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { members, strings, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText } from '#graph/validation.ts';
import { effectBounds } from './bounds.ts';
import { type EffectPolicy, effectKinds } from './model.ts';

export const OutsideEffectKind = wordSet(
  'OutsideEffectKind',
  effectKinds,
  'The kind of an action that a mission performs in another system.',
  {
    push: 'A push of commits to the source host. If it waits, its pull request waits too.',
    pull_request: 'A pull request at the source host.',
    comment: 'The comment of a mission on an issue or pull request.',
    tracker: 'The move of an issue to another state, in a tracker other than the built-in one.',
    mcp_call: 'The call of a tool of an MCP server that nobody has attested as read-only.',
  },
);

const words = {
  waits: 'Kinds of outside effects that wait for approval.',
  allowedTools: `Tools whose calls need no approval: \`server\` or \`server.tool\`, at most ${effectBounds.allowedTools}.`,
};

export const EffectPolicyType = builder.objectRef<EffectPolicy>('EffectPolicy').implement({
  description: 'Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval.',
  fields: (t) =>
    members(t, { waits: typed([OutsideEffectKind.type], words.waits), allowedTools: strings(words.allowedTools) }),
});

export const effectPolicy = z
  .object({
    waits: z.array(OutsideEffectKind.zod).max(effectKinds.length).describe(words.waits),
    allowedTools: z
      .array(
        boundedText(effectBounds.toolName).regex(
          /^[A-Za-z0-9][\w-]*(?:\.[\x21-\x7e]+)?$/,
          'must be the name of a server, or server.tool',
        ),
      )
      .max(effectBounds.allowedTools)
      .default([])
      .describe(words.allowedTools),
  })
  .describe('Policy that decides which outside effects of missions, such as pushes, wait for a person’s approval.');
