// Structured outputs that one role hands to the next. The harness requests them from its model, and they are validated here again. The
// schema for models has no limits and requires every member, as strict structured output demands; the validation has limits and tolerates
// missing members.
import { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import type { AgentRole } from '../../projects/agents/model.ts';

// Text without NUL characters, which PostgreSQL cannot store, and without lone surrogates, which are not UTF-8.
const isStorable = (value: string) => !value.includes('\0') && value.isWellFormed();
const bounded = (max: number) => z.string().max(max).refine(isStorable, 'must be text without NUL characters');
const line = bounded(4_000).min(1);
const Plan = z.object({ steps: z.array(line).min(1).max(50) });
const Review = z.object({
  verdict: z.enum(['approve', 'request_changes']),
  comments: z
    .array(
      z.object({
        path: bounded(1_000).nullish(),
        line: z.int().min(0).max(10_000_000).nullish(),
        body: line,
      }),
    )
    .max(100)
    .default([]),
});
const Test = z.object({ passed: z.boolean(), findings: z.array(line).max(100).default([]) });

export type PlanOutput = z.output<typeof Plan>;
export type ReviewOutput = z.output<typeof Review>;
export type TestOutput = z.output<typeof Test>;
export type Handover =
  | { role: 'planner'; plan: PlanOutput }
  | { role: 'reviewer'; review: ReviewOutput }
  | { role: 'qa'; test: TestOutput };

const text = { type: 'string' };
const list = (items: object) => ({ type: 'array', items });
const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const schemas: Partial<Record<AgentRole, string>> = {
  planner: JSON.stringify(object({ steps: list(text) })),
  reviewer: JSON.stringify(
    object({
      verdict: { type: 'string', enum: ['approve', 'request_changes'] },
      comments: list(object({ path: text, line: { type: 'integer' }, body: text })),
    }),
  ),
  qa: JSON.stringify(object({ passed: { type: 'boolean' }, findings: list(text) })),
};

/** The JSON schema of the role's output; null for a role without one. */
export const outputSchemaOf = (role: AgentRole): string | null => schemas[role] ?? null;

/** The validated output of a role that has a schema. @throws 400 naming the problem */
export function readHandover(role: AgentRole, output: string | null | undefined): Handover {
  if (!output) throw invalid.field('output', 'is required');
  if (role === 'planner') return { role, plan: parse(Plan, output) };
  if (role === 'reviewer') return { role, review: parse(Review, output) };
  return { role: 'qa', test: parse(Test, output) };
}

function parse<T>(schema: z.ZodType<T>, output: string): T {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw invalid.field('output', 'is not JSON');
  }
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw invalid.field('output', sentences(error).slice(0, 1_000));
  return data;
}

const sentences = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.length > 0 ? `${path.join('.')} ` : ''}${message}`).join('; ');
