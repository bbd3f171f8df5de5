// Parts of Linear's webhook payloads, as its published schema defines them.
import { z } from 'zod';
import type { FoundIssue } from '../tracker.ts';

export const PersonPart = z.object({ name: z.string(), email: z.string() });
const Team = z.object({ id: z.string(), key: z.string() });
export const IssuePart = z.object({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  url: z.string(),
  team: Team,
});

export const foundIssue = (
  { id, url, title }: z.infer<typeof IssuePart>,
  body: string,
  comments: FoundIssue['comments'] = [],
): FoundIssue => ({ id, url, title, body, comments });
