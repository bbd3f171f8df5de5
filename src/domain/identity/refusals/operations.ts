// Records refusals in the audit logs of organizations: refused operations, and refused credentials and sign-ins if their owner is known.
import { originOfChanges } from '#access/origin.ts';
import type { Caller } from '#access/principal.ts';
import { now } from '#foundation/clock.ts';
import type { Exchange } from '#foundation/http/http.ts';
import type { Refusal } from '#foundation/http/refusal.ts';
import { withOrigin } from '#foundation/postgres/origin.ts';
import { digest } from '#foundation/secrets/secrets.ts';
import { recordRefusal } from '../../organization/audit-changes/refusals.ts';
import { Membership } from '../../organization/memberships/model.ts';
import type { Person } from '../../organization/people/model.ts';
import { Registration } from '../agent-identities/model.ts';
import { AccessToken } from '../oauth/access-tokens.ts';
import { SignIn } from '../oauth/sign-ins.ts';
import { DirectoryToken } from '../tokens/directory-tokens.ts';
import { Token } from '../tokens/model.ts';
import { ServiceToken } from '../tokens/service-tokens.ts';

interface Known {
  id: string;
  orgId: string | null;
  name: string | null;
  userId?: string | null;
  expiresAt?: number;
  revokedAt: number | null;
}

/** For each prefix of a secret, the function that finds the credential to which the secret belongs. */
const kinds: Record<string, (secret: string) => Promise<Known | undefined>> = {
  pat_: async (secret) => Token.find({ digest: digest(secret) }),
  srv_: async (secret) => ServiceToken.find({ digest: digest(secret) }),
  scm_: async (secret) => DirectoryToken.find({ digest: digest(secret) }),
  oat_: ownerOfAccessToken,
  agt_: ownerOfAccessToken,
};

/** The application or agent of a revoked access token. Undefined for an expired token, because programs routinely replace those. */
async function ownerOfAccessToken(secret: string): Promise<Known | undefined> {
  const token = await AccessToken.find({ digest: digest(secret) });
  if (!token || token.expiresAt <= now()) return undefined;
  const { revokedAt } = token;
  if (token.signInId) {
    const signIn = await SignIn.find({ id: token.signInId });
    return signIn && { ...signIn, name: signIn.clientName, revokedAt: signIn.revokedAt ?? revokedAt };
  }
  const agent = token.registrationId && (await Registration.find({ id: token.registrationId }));
  return agent ? { ...agent, name: agent.agentName, revokedAt: agent.revokedAt ?? revokedAt } : undefined;
}

/** The entry in the audit log for a credential that was refused; undefined if the secret is unknown or its credential belongs to no organization. */
export async function refusalOfCredential(secret: string): Promise<Refusal | undefined> {
  const known = await kinds[secret.slice(0, 4)]?.(secret);
  if (!known?.orgId) return undefined;
  const { id, orgId, name, userId, expiresAt, revokedAt } = known;
  const hasExpired = expiresAt !== undefined && expiresAt <= now();
  const reason = revokedAt !== null ? 'revoked' : hasExpired ? 'expired' : 'not accepted here';
  return { kind: 'credential', id, name, userId: userId ?? null, reason, organizations: [orgId] };
}

/** The refusal of a sign-in; undefined when the person is unknown. */
export async function refusalOfSignIn(
  find: () => Promise<Person | undefined>,
  reason: string,
): Promise<Refusal | undefined> {
  const person = await find();
  if (!person) return undefined;
  const memberships = await Membership.findAll({ userId: person.id });
  const organizations = memberships.flatMap(({ orgId, closedAt }) => (closedAt === null ? [orgId] : []));
  return { kind: 'sign_in', id: person.id, name: person.email, reason, organizations };
}

/** Whether the request was refused in a way that the audit log records. */
export const wasRefused = ({ refusal, findRefusal }: Exchange): boolean => (refusal ?? findRefusal) !== undefined;

/** Records the refusal of a request; called after the response was sent. */
export async function recordRefusalOf(exchange: Exchange): Promise<void> {
  const refusal = exchange.refusal ?? (await exchange.findRefusal?.());
  if (!refusal) return;
  const isOperation = refusal.kind === 'operation';
  const caller = isOperation ? (exchange.caller as Caller) : undefined;
  const organizations = refusal.organizations ?? (caller?.orgId ? [caller.orgId] : []);
  const origin = originOfChanges(caller, exchange, isOperation ? refusal.id : undefined);
  await withOrigin(
    () => origin,
    async () => {
      for (const orgId of organizations) await recordRefusal(orgId, caller?.credentialId ?? refusal.id, refusal);
    },
  );
}
