// The review of an MCP server's tools before a person approves them, in GraphQL.
import { builder } from '#graph/builder.ts';
import { members, typed } from '#graph/members.ts';
import { wordSet } from '#graph/scalars.ts';
import { weightOf } from '#graph/weight.ts';
import { type ToolDefinition, toolDigest } from './model.ts';
import { type ReviewedTool, type ToolReview, toolChanges } from './review.ts';
import { BindingType, ToolType } from './schema-records.ts';

/** Maximum number of tools with definitions in one response, and maximum number of characters of each definition. */
export const maxToolNames = 50;
const maxSchemaCharacters = 8_000;

const ToolChange = wordSet('McpToolChange', toolChanges, 'Change of a tool since its last approval.', {
  new: 'Added since tools were last approved.',
  changed: 'The definition of the tool has changed.',
  removed: 'The server no longer has this tool.',
  none: 'Unchanged.',
});
const claims = {
  reads_only: ['readOnlyHint', 'The tool changes nothing.'],
  destroys: ['destructiveHint', 'The tool may destroy data.'],
  reaches_outside: ['openWorldHint', 'The tool reaches systems outside of the server.'],
} as const;
type Claim = keyof typeof claims;
const claimNames = Object.keys(claims) as [Claim, ...Claim[]];
const ToolClaim = wordSet(
  'McpToolClaim',
  claimNames,
  'A claim of a server about its own tool.',
  Object.fromEntries(claimNames.map((name) => [name, claims[name][1]])) as Record<Claim, string>,
);

/** The definition as indented JSON, cut off after `maxSchemaCharacters`. */
function written(tool: ToolDefinition): string {
  const all = JSON.stringify(tool, null, 2);
  return all.length > maxSchemaCharacters
    ? `${all.slice(0, maxSchemaCharacters)}\n… (${all.length} characters)\n`
    : `${all}\n`;
}

interface Reviewed extends ReviewedTool {
  isNarrowed: boolean;
}

const ReviewedToolType = builder.objectRef<Reviewed>('McpReviewedTool').implement({
  description: 'The present definition of a tool, and its last approved one.',
  fields: (t) => {
    const definition = (of: 'present' | 'reviewed', description: string) =>
      t.string({
        nullable: true,
        complexity: weightOf(maxSchemaCharacters),
        description,
        resolve: (one) => (one.isNarrowed && one[of] ? written(one[of]) : null),
      });
    return {
      name: t.exposeString('name', { description: 'The server’s name for the tool.' }),
      change: t.expose('change', { type: ToolChange.type, description: 'The change since the last approval.' }),
      digest: t.string({
        nullable: true,
        description: 'The digest of the definition, which changes with any part of it. Null means removed.',
        resolve: ({ present }) => present && toolDigest(present),
      }),
      tool: t.field({
        type: ToolType,
        nullable: true,
        description: 'The present definition, or the last definition of a removed tool; null when it was not stored.',
        resolve: ({ present, reviewed }) => present ?? reviewed,
      }),
      claims: t.field({
        type: [ToolClaim.type],
        description: 'The server’s claims about the tool.',
        resolve: ({ present, reviewed }) =>
          claimNames.filter((name) => (present ?? reviewed)?.annotations?.[claims[name][0]] === true),
      }),
      definition: definition(
        'present',
        'The definition of the tool as JSON, the first 8,000 characters; null unless the query names the tool.',
      ),
      reviewedDefinition: definition(
        'reviewed',
        'The definition that was approved; null when it was not stored, or when the query does not name the tool.',
      ),
    };
  },
});

export const ToolReviewType = builder.objectRef<ToolReview>('McpToolReview').implement({
  description: 'The tools of a bound server, compared with the approved ones.',
  fields: (t) =>
    members(t, {
      binding: typed(BindingType, 'The binding that the tools were read with: send its `updatedAt` with the approval.'),
      tools: t.field({
        type: [ReviewedToolType],
        complexity: { field: 1, multiplier: 1 },
        description: 'The tools in the order of the server, removed ones last.',
        resolve: ({ tools, isNarrowed }) => tools.map((tool) => ({ ...tool, isNarrowed })),
      }),
    }),
});
