// The option `--org`, which selects an organization by its slug.
import { Organization } from '#domain/organization/organizations/model.ts';
import { slugPattern } from '#domain/organization/organizations/slug.ts';
import { boundedText } from '#graph/validation.ts';
import { text } from '#limits.ts';

export const slug = boundedText(text.organizationSlug)
  .regex(slugPattern, 'must be lower-case letters, digits and hyphens')
  .describe('The slug of an organization.');

export async function organizationOf(slug: string): Promise<Organization> {
  const organization = await Organization.find({ slug });
  if (!organization) throw new Error(`--org: no organization has the slug ${slug}`);
  return organization;
}
