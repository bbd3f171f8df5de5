// Keys of requests: the secret or hook id in a request, by which its organization is found before the request is handled. Secrets are
// compared by their digests, which cells may send each other.
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
  /** The hexadecimal digest of the secret, or the hook id. */
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

/** Finds the record that owns a key, for each kind of key. */
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

/** The key for a secret of this service; null for any other text. */
export function keyOfSecret(secret: string): RequestKey | null {
  const kind = /^([a-z]{3}_)[\w-]{20,64}$/.exec(secret)?.[1];
  return kind && Object.hasOwn(owners, kind) ? { kind, value: digest(secret).toString('hex') } : null;
}

/**
 * The organization of a key, according to this cell's database. Null for a credential without an organization, such as that of an unclaimed
 * agent or of a runtime that serves all organizations; undefined for an unknown key. An ended credential keeps its organization.
 */
export async function organizationOfKey({ kind, value }: RequestKey): Promise<OrgId | null | undefined> {
  if (kind === 'hook') return (await InboundHook.find({ id: value as InboundHook['id'] }))?.orgId;
  return (await owners[kind]?.(Buffer.from(value, 'hex')))?.orgId;
}
