// Notices about the sign-in of an organization: domains whose TXT record is missing, unusable metadata, and the expiry of certificates and
// directory tokens.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { days, isoTime, now } from '#foundation/clock.ts';
import { domainCheckMs, samlBounds } from '../../../identity/identity-providers/bounds.ts';
import {
  listExpiringCertificates,
  listFailingMetadata,
  listMissingDomains,
} from '../../../identity/identity-providers/trouble.ts';
import { findLastDirectoryToken } from '../../../identity/tokens/directory-tokens.ts';
import { type Condition, inQuotes } from '../model.ts';

/** Numbers of days before an expiry at which a notice appears. If several numbers apply, only the smallest counts. */
const daysLeft = [7, 30] as const;

export const missingDomainRecords = async (caller: Caller): Promise<Condition[]> =>
  (await listMissingDomains(ownOrganization(caller))).map(({ id, domain, verifiedAt, missingSince }) => {
    const [since, end] = [isoTime(missingSince), missingSince + domainCheckMs.grace];
    const isLost = verifiedAt === null;
    return {
      id: `sign_in_domain_${isLost ? 'lost' : 'missing'}:${id}:${missingSince}`,
      kind: 'action',
      title: isLost ? `The domain ${domain} no longer counts as verified` : `The TXT record of ${domain} is missing`,
      body: isLost
        ? `Its TXT record has been missing since ${since}. Nobody can sign in with its email addresses through an identity provider until the record exists again and you check it.`
        : `It has been missing since ${since}. If it is still missing on ${isoTime(end).slice(0, 10)}, nobody can sign in with email addresses of the domain through an identity provider any longer.`,
      page: '/sign-in',
      createdAt: isLost ? end : missingSince,
    };
  });

export async function expiringCertificates(caller: Caller): Promise<Condition[]> {
  const at = now();
  const providers = await listExpiringCertificates(ownOrganization(caller), at + days(Math.max(...daysLeft)));
  return providers.map(({ id, name, expiresAt, metadataUrl }) => {
    const left = daysLeft.find((n) => expiresAt - at <= days(n))!;
    const advice =
      metadataUrl === null
        ? 'Replace its metadata before the provider signs with another certificate: otherwise nobody can sign in through it.'
        : 'The service reads its metadata every day: add the next certificate there before the provider signs with it.';
    return {
      ...expiryOf(`The certificate of the provider ${inQuotes(name)}`, { left, expiresAt, advice }),
      id: `sign_in_certificate:${id}:${expiresAt}:${left}`,
      page: '/sign-in',
    };
  });
}

/** A metadata URL that is only briefly unavailable causes no notice. */
export const failingMetadata = async (caller: Caller): Promise<Condition[]> =>
  (await listFailingMetadata(ownOrganization(caller), now() - samlBounds.metadataFailsMs)).map(
    ({ id, name, since }) => ({
      id: `sign_in_metadata:${id}:${since}`,
      kind: 'action',
      title: `The metadata of the provider ${inQuotes(name)} cannot be used`,
      body: `Since ${isoTime(since)}, its URL has not responded, or has described another provider or sign-in URL. Replace the metadata: until then, new certificates of the provider are not read.`,
      page: '/sign-in',
      createdAt: since,
    }),
  );

/**
 * The directory token that expires last; without a valid token, the directory can add and remove nobody. A token that expired long ago is
 * no longer in use and causes no notice.
 */
export async function expiringDirectory(caller: Caller): Promise<Condition[]> {
  const at = now();
  const token = await findLastDirectoryToken(ownOrganization(caller));
  if (!token || token.expiresAt <= at - days(Math.max(...daysLeft))) return [];
  const { id, name, createdAt, expiresAt } = token;
  // A threshold applies only to tokens with a longer lifetime: otherwise a new token would cause a notice at once.
  const left = daysLeft.find((n) => expiresAt - at <= days(n) && expiresAt - createdAt > days(n));
  if (!left) return [];
  const advice = 'Create a new one and enter it at the identity provider: without it, nobody is added or removed.';
  return [
    {
      ...expiryOf(`The directory token ${inQuotes(name)}`, { left, expiresAt, advice }),
      id: `directory_token:${id}:${left}`,
      page: '/directory',
    },
  ];
}

/** The text of a notice about an expiry. @param left The applicable threshold in days; a notice at the smallest threshold needs action */
function expiryOf(
  subject: string,
  { left, expiresAt, advice }: { left: number; expiresAt: number; advice: string },
): Omit<Condition, 'id' | 'page'> {
  const isOver = expiresAt <= now();
  return {
    kind: left === daysLeft[0] ? 'action' : 'warning',
    title: `${subject} ${isOver ? 'has expired' : `expires in ${left} days or less`}`,
    body: `${isOver ? 'It expired' : 'It expires'} at ${isoTime(expiresAt)}. ${advice}`,
    createdAt: expiresAt - days(left),
  };
}
