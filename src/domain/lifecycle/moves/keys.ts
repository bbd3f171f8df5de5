// Keys of requests: what a request presents, and by which its organization is found before the request is handled. Secrets are compared by
// their digests, which cells may send each other.
import type { Id } from '#foundation/ids.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { Registration } from '../../identity/agent-identities/model.ts';
import { AccessToken } from '../../identity/oauth/access-tokens.ts';
import { AuthorizationCode } from '../../identity/oauth/codes.ts';
import { RefreshToken, SignIn } from '../../identity/oauth/sign-ins.ts';
import { DirectoryToken } from '../../identity/tokens/directory-tokens.ts';
import { Token } from '../../identity/tokens/model.ts';
import { ServiceToken } from '../../identity/tokens/service-tokens.ts';
import { InboundHook } from '../../work/inbound-hooks/model.ts';
import { RunShare } from '../../work/replays/model.ts';

type OrgId = Id<'organization'>;

export interface RequestKey {
  /** The prefix of the secret, or `hook` for the id of an inbound hook. */
  kind: string;
  /** The digest of the secret, hexadecimal, or the id. */
  value: string;
}

type Owner = { orgId: OrgId | null } | undefined;

const ofSignIn = (id: SignIn['id'] | null): Promise<Owner> | undefined => (id ? SignIn.find({ id }) : undefined);

async function ofAccessToken(bytes: Buffer): Promise<Owner> {
  const token = await AccessToken.find({ digest: bytes });
  if (!token) return undefined;
  if (token.signInId) return ofSignIn(token.signInId);
  return Registration.find({ id: token.registrationId as Registration['id'] });
}

/** The record of each kind of key. */
const owners: Record<string, (bytes: Buffer) => Promise<Owner>> = {
  pat_: (bytes) => Token.find({ digest: bytes }),
  srv_: (bytes) => ServiceToken.find({ digest: bytes }),
  scm_: (bytes) => DirectoryToken.find({ digest: bytes }),
  oat_: ofAccessToken,
  agt_: ofAccessToken,
  ort_: async (bytes) => ofSignIn((await RefreshToken.find({ digest: bytes }))?.signInId ?? null),
  oac_: (bytes) => AuthorizationCode.find({ digest: bytes }),
  clm_: (bytes) => Registration.find({ claimTokenDigest: bytes }),
  shr_: (bytes) => RunShare.find({ tokenHash: bytes }),
};

/** The key of a secret of this service; null for another text. */
export function keyOfSecret(secret: string): RequestKey | null {
  const kind = /^([a-z]{3}_)[\w-]{20,64}$/.exec(secret)?.[1];
  return kind && Object.hasOwn(owners, kind) ? { kind, value: digest(secret).toString('hex') } : null;
}

/**
 * The organization of a key in the database of this cell: null for a credential of no organization, such as that of an unclaimed agent or
 * of a runtime of all organizations; undefined for an unknown key. An ended credential keeps its organization.
 */
export async function organizationOfKey({ kind, value }: RequestKey): Promise<OrgId | null | undefined> {
  if (kind === 'hook') return (await InboundHook.find({ id: value as InboundHook['id'] }))?.orgId;
  return (await owners[kind]?.(Buffer.from(value, 'hex')))?.orgId;
}
