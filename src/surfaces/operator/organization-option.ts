// The option --org: an organization by its slug.
import { Organization } from '#domain/organizations/model.ts';
import { slugPattern } from '#domain/organizations/slug.ts';
import { readOne } from '#foundation/record.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';

export const slug = boundedText(text.organizationSlug)
  .regex(slugPattern, 'must be lower-case letters, digits and hyphens')
  .describe('The slug of an organization.');

export async function organizationOf(slug: string): Promise<Organization> {
  const organization = await readOne<Organization>(Organization, { slug });
  if (!organization) throw new Error(`--org: no organization has the slug ${slug}`);
  return organization;
}
