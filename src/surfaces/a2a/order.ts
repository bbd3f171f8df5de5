// Parses a message: its text, and the members of its metadata and data parts (see the skills of the agent card).
import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { invalid } from '#foundation/problem.ts';
import { fieldErrorsOf } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { a2a } from './bounds.ts';

const bounded = ({ min, max }: { min: number; max: number }) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((value) => !value.includes('\0'), { error: 'contains a NUL character' });
const id = bounded(text.pathId);

const Members = z.object({
  projectId: id.optional(),
  agentId: id.optional(),
  issue: id.optional(),
  scheduledTaskId: id.optional(),
  runId: id.optional(),
  approvePlan: z.boolean().optional(),
  approveToolCall: z.boolean().optional(),
  sandboxId: id.optional(),
  seq: z.int().min(0).max(1_000_000).optional(),
});

export interface A2aOrder extends z.output<typeof Members> {
  messageId: string;
  /** Id of the context; null when the service chooses it. */
  contextId: string | null;
  taskId: string | null;
  text: string;
}

/** Parses a message. @throws 400 naming the member and its bound; ContentTypeNotSupportedError for files */
export function readMessage(message: Message | undefined): A2aOrder {
  if (!message) throw invalid.field('message', 'is required');
  const { parts, metadata } = message;
  if (parts.length === 0 || parts.length > a2a.parts)
    throw invalid.field('message.parts', `must be 1 to ${a2a.parts} entries`);
  const words = parts.flatMap(wordsOf).join('\n\n');
  if (words.length > text.prompt.max) {
    throw invalid.field('message.parts', `the text must be at most ${text.prompt.max} characters`);
  }
  checkShape(bounded({ min: 0, max: text.prompt.max }), words, 'message.parts');
  const members = checkShape(Members, Object.assign({}, metadata, ...parts.flatMap(membersOf)), 'message.metadata');
  return {
    ...members,
    messageId: checkShape(bounded(a2a.id), message.messageId, 'message.messageId'),
    contextId: message.contextId ? checkShape(bounded(a2a.id), message.contextId, 'message.contextId') : null,
    taskId: message.taskId ? checkShape(bounded(a2a.id), message.taskId, 'message.taskId') : null,
    text: words,
  };
}

function wordsOf({ content }: Part): string[] {
  if (content?.$case === 'text') return [content.value];
  if (content?.$case === 'data') return [];
  throw new ContentTypeNotSupportedError(
    'Only text and data parts are supported: put a link to each file into the text.',
  );
}

const membersOf = ({ content }: Part): object[] =>
  content?.$case === 'data' && content.value !== null && typeof content.value === 'object' ? [content.value] : [];

export function checkShape<T>(shape: z.ZodType<T>, value: unknown, name: string): T {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  throw invalid.fields(
    fieldErrorsOf(error).map(({ path, message }) => ({ path: path ? `${name}.${path}` : name, message })),
  );
}
