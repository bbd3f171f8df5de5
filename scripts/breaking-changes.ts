// Changes to the GraphQL schema that break a client, and the check that the changelog announces them.
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

/** Compares two schemas. Returns one sentence for each breaking change that the changelog does not announce. */
export async function unannounced(before: string, after: string, changelog: string): Promise<string[]> {
  const announced = announcements(changelog);
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .filter(({ path, message }) => !announced.some((entry) => names(entry, path ?? message)))
    .map(({ path, message }) => `${path}: ${message}`);
}

/** The entries of the newest version that begin with `- Breaking:`, each with the lines that belong to it. */
function announcements(changelog: string): string[] {
  const section = changelog.split(/^(?=## )/m).find((part) => part.startsWith('## ')) ?? '';
  return section.split(/^(?=- |#)/m).filter((entry) => entry.startsWith('- Breaking:'));
}

/** Whether the entry names exactly this type or member: `Project.name` does not announce a change of `Project`. */
function names(entry: string, path: string): boolean {
  const exact = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.])${exact}(?!\\w|\\.\\w)`).test(entry);
}
