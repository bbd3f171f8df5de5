// The log of a session in the graph (specification, Sandbox: log response).
import { builder } from '#graph/builder.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { bytes } from '#limits.ts';
import { AgentRole } from '../agents/schema.ts';
import type { PromptSpan, SandboxLog } from './log.ts';
import { logParts, promptScopes } from './model.ts';

export const LogPart = wordSet('SandboxLogPart', logParts, 'Which log of a session.');
export const PromptScope = wordSet('PromptScope', promptScopes, 'Whose words a span of a prompt holds.');

const PromptSpanType = builder.objectRef<PromptSpan>('PromptSpan').implement({
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Unique among the spans of the answer.' }),
    content: t.exposeString('content', { complexity: weightOf(bytes.logContent) }),
    scope: t.expose('scope', { link: 'open', type: PromptScope.type, description: 'Whose words it holds.' }),
  }),
});
export const SandboxLogType = builder.objectRef<SandboxLog>('SandboxLog').implement({
  description: 'One log of a session.',
  fields: (t) => ({
    sandboxId: t.exposeString('sandboxId'),
    role: t.expose('role', { type: AgentRole.type }),
    sessionId: t.exposeString('sessionId'),
    part: t.expose('part', { type: LogPart.type }),
    content: t.exposeString('content', {
      description: 'At most 1048576 bytes: the newest, or by `cursor` older ones.',
      complexity: weightOf(bytes.logContent),
    }),
    bytes: t.expose('bytes', { type: 'SafeInt', description: 'Of the whole part, also of what is not in `content`.' }),
    promptScope: t.exposeString('promptScope', {
      nullable: true,
      description:
        'Whose words the whole prompt holds: `repo-contributed` from files of the repository, `mission` from the mission, or ' +
        '`mixed`; null in the other parts and while it is empty.',
    }),
    promptSpans: t.expose('promptSpans', {
      description: 'Empty in the other parts.',
      type: [PromptSpanType],
      // Their contents together are that of the log.
      complexity: { field: 1, multiplier: 1 },
    }),
    nextCursor: t.exposeString('nextCursor', {
      link: 'open',
      nullable: true,
      description: 'Leads to the piece before this one; null when this one begins the log. REST says it in `Link`.',
    }),
  }),
});
