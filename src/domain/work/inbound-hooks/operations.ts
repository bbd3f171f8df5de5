// Operations on inbound hooks: list, create, change, replace the secret, delete.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction, transaction } from '#foundation/postgres/database.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { seal, unseal } from '#foundation/secrets/secrets.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { profiles, type VendorOf } from '../../projects/integrations/model.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { inboundCounts } from './bounds.ts';
import { InboundHook } from './model.ts';
import { newSigningSecret } from './signatures.ts';

export async function listHooks(caller: Caller, page: PageRequest): Promise<Page<InboundHook>> {
  return InboundHook.page({ orgId: wholeOrganization(caller) }, page);
}

export async function findHook(caller: Caller, hookId: string): Promise<InboundHook> {
  return InboundHook.get({ id: hookId, orgId: wholeOrganization(caller) });
}

export interface NewHook {
  name: string;
  vendor: InboundHook['vendor'];
  /**
   * The signature scheme of the sender; absent means the vendor's own scheme, or Standard Webhooks for any other
   * system.
   */
  signature?: InboundHook['signature'] | undefined;
  signatureHeader?: string | null | undefined;
  /** A secret that the sender has chosen; absent means a new one. */
  secret?: string | undefined;
}

/** A hook with its secret, which is shown only once. */
export interface HookWithSecret {
  hook: InboundHook;
  secret: string;
}

export const hookPurpose = (id: string) => `inbound hook:${id}`;

const insertBuiltinSql = `insert into inbound_hooks
    (id, org_id, name, vendor, signature, sealed_secret, created_at, updated_at)
  values ($1, $2, 'Built-in tracker', 'builtin', 'standard', '', $3, $3) on conflict (org_id) where vendor = 'builtin' do nothing`;

// A locked row is skipped, so that concurrent events do not wait for each other.
const touchHookSql = `update inbound_hooks set last_delivery_at = $2
  where id in (select id from inbound_hooks where id = $1 for no key update skip locked)`;

/** The hook for events of the built-in tracker, created with the first event of an organization. Its URL accepts no requests. */
export async function builtinHook(trx: Transaction, orgId: Id<'organization'>): Promise<InboundHook['id']> {
  await sql(insertBuiltinSql, [newId('inboundHook'), orgId, now()], trx);
  const { id } = (await InboundHook.find({ orgId, vendor: 'builtin' }, trx))!;
  await sql(touchHookSql, [id, now()], trx);
  return id;
}

/**
 * Creates a hook. @throws 400 for a chat vendor, or a signature scheme that the vendor does not use; 409 when the organization has the
 * maximum number of hooks
 */
export async function createHook(caller: Caller, input: NewHook): Promise<HookWithSecret> {
  const orgId = wholeOrganization(caller);
  const { name, vendor, signatureHeader = null, secret = newSigningSecret() } = input;
  if (vendor === 'builtin')
    throw invalid.field('vendor', 'must be another system: the hook of the built-in tracker is created automatically');
  const own = vendor === 'webhook' ? null : vendor;
  if (own && moduleOf(own).chat)
    throw invalid.field('vendor', `must not be ${own}: its hooks are created with a chat connection`);
  const signature = input.signature ?? own ?? 'standard';
  if (own && signature !== own) throw invalid.field('signature', `must be ${own} for ${profiles[own].title}`);
  if ((signature === 'header') !== (signatureHeader !== null)) {
    throw invalid.field(
      'signatureHeader',
      'must be the name of a header when signature is header, and absent otherwise',
    );
  }
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const counted = InboundHook.query(trx).where({ orgId, integrationId: null }).whereNot('vendor', 'builtin');
    if ((await counted.resultSize()) >= inboundCounts.hooks) {
      throw conflict(`An organization can have at most ${inboundCounts.hooks} inbound hooks.`);
    }
    const kind = { vendor, signature, signatureHeader, integrationId: null };
    const hook = await insertHook(trx, { orgId, name, ...kind, createdByUserId: caller.userId }, secret);
    return { hook, secret };
  });
}

type HookFields = 'orgId' | 'name' | 'vendor' | 'signature' | 'signatureHeader' | 'integrationId' | 'createdByUserId';

async function insertHook(
  trx: Transaction,
  fields: Pick<InboundHook, HookFields>,
  secret: string,
): Promise<InboundHook> {
  const [id, at] = [newId('inboundHook'), now()];
  await InboundHook.insert(trx, {
    ...{ id, ...fields, enabled: true, createdAt: at, updatedAt: at },
    sealedSecret: seal(hookPurpose(id), secret),
  });
  return (await InboundHook.find({ id }, trx))!;
}

export type ConnectorHook = Pick<InboundHook, 'orgId' | 'name' | 'createdByUserId'> & {
  vendor: VendorOf<'chat'>;
  integrationId: Id<'integration'>;
};

/** Creates the hook of an integration, which is deleted with the integration. */
export const insertConnectorHook = (trx: Transaction, hook: ConnectorHook, secret: string): Promise<InboundHook> =>
  insertHook(trx, { ...hook, signature: hook.vendor, signatureHeader: null }, secret);

/** Replaces the secret of an integration's hook; the earlier secret is invalid at once. */
export async function setConnectorHookSecret(integrationId: Id<'integration'>, secret: string): Promise<void> {
  const { id, updatedAt } = await InboundHook.get({ integrationId });
  const patch = { sealedSecret: seal(hookPurpose(id), secret), updatedAt: nowAfter(updatedAt) };
  await InboundHook.patch(undefined, { id }, patch);
}

/** Rejects changes of an integration's hook. @throws 409 */
function refuseOfConnector({ integrationId }: InboundHook): void {
  if (integrationId !== null)
    throw conflict(
      'The hook belongs to a chat connection: rotate the credentials of the connection, or disconnect the chat.',
    );
}

const change = (
  caller: Caller,
  hookId: string,
  changes: Partial<Pick<InboundHook, 'name' | 'enabled'> & { sealedSecret: string }>,
): Promise<InboundHook> => {
  beyondOneProject(caller);
  return transaction(async (trx) => {
    const hook = await InboundHook.lock(trx, { id: hookId, orgId: ownOrganization(caller) });
    if (!hook) return InboundHook.refuse();
    if ('sealedSecret' in changes) refuseOfConnector(hook);
    const patch = { ...changes, updatedAt: nowAfter(hook.updatedAt) };
    await InboundHook.patch(trx, { id: hook.id }, patch);
    return (await InboundHook.find({ id: hook.id }, trx))!;
  });
};

export const changeHook = (
  caller: Caller,
  hookId: string,
  { name, enabled }: { name?: string | undefined; enabled?: boolean | undefined },
): Promise<InboundHook> =>
  change(caller, hookId, { ...(name !== undefined && { name }), ...(enabled !== undefined && { enabled }) });

/** Replaces the secret of a hook; the earlier secret is invalid at once. */
export async function replaceHookSecret(
  caller: Caller,
  hookId: string,
  secret = newSigningSecret(),
): Promise<HookWithSecret> {
  if ((await findHook(caller, hookId)).vendor === 'builtin')
    throw conflict('The hook of the built-in tracker has no secret.');
  const hook = await change(caller, hookId, { sealedSecret: seal(hookPurpose(hookId), secret) });
  return { hook, secret };
}

/** Deletes a hook. @throws 404, 409 for the hook of an integration */
export const deleteHook = (caller: Caller, hookId: string): Promise<{ ok: true; id: string }> => {
  beyondOneProject(caller);
  return transaction(async (trx) => {
    const hook = await InboundHook.lock(trx, { id: hookId, orgId: ownOrganization(caller) });
    if (!hook) return InboundHook.refuse();
    refuseOfConnector(hook);
    await InboundHook.query(trx).deleteById(hookId);
    return { ok: true, id: hookId };
  });
};

/** Prevents the deletion of these hooks until the transaction ends. @throws 404 for a hook of another organization */
export async function lockHooksOf(
  trx: Transaction,
  orgId: Id<'organization'>,
  hookIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(hookIds)];
  if (ids.length === 0) return;
  const held = await InboundHook.query(trx).where({ orgId }).whereIn('id', ids).forKeyShare();
  if (held.length < ids.length) InboundHook.refuse();
}

/** A hook with its secret in clear text, to verify a signature. @throws 404, including for a secret that was sealed with another key */
export async function openHook(hookId: string): Promise<HookWithSecret> {
  const hook = await InboundHook.get({ id: hookId });
  const [row] = await sql<{ sealed: string }>('select sealed_secret as sealed from inbound_hooks where id = $1', [
    hookId,
  ]);
  try {
    return { hook, secret: unseal(hookPurpose(hookId), row!.sealed) };
  } catch {
    return InboundHook.refuse();
  }
}
