// Slugs from names: lower-case letters, digits and hyphens, 1 to 64 of them (docs/contract.md#organizations).
import { text } from '#limits.ts';

const { max } = text.organizationSlug;
export const slugPattern = /^[a-z0-9-]+$/;

/** The slug of a name, such as `zurich-sohne` of `Zürich & Söhne`; `fallback` for a name without any Latin letter or digit. */
export function slugOf(name: string, fallback = 'org'): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, max)
    .replace(/^-+|-+$/g, '');
  return slug || fallback;
}

/** The first free slug of `slug`, `slug-2`, `slug-3` …, never longer than the maximum. */
export function freeSlug(slug: string, usedSlugs: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : `-${n}`;
    const candidate = slug.slice(0, max - suffix.length) + suffix;
    if (!usedSlugs.has(candidate)) return candidate;
  }
}
