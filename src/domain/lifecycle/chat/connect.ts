// Connects chat workspaces. A connection consists of a connector, which has the app's token, and an inbound hook, which has the app's
// signing secret.
import type { Caller } from '#access/principal.ts';
import { wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { firstStep, releaseTransaction } from '#foundation/postgres/idempotency.ts';
import { conflict, invalid } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import type { VendorOf } from '../../projects/integrations/model.ts';
import { Integration } from '../../projects/integrations/model.ts';
import { insertIntegration, noteCheck, replaceCredentials } from '../../projects/integrations/operations.ts';
import { maxConnectors } from '../../projects/vendors/bounds.ts';
import type { ChatAccount } from '../../projects/vendors/chat.ts';
import { vendorChecks } from '../../projects/vendors/check.ts';
import { isFinal, trialConnection } from '../../projects/vendors/connection.ts';
import { moduleOf } from '../../projects/vendors/registry.ts';
import { recordAccount } from '../../work/chat-threads/connections.ts';
import { ChatConnection } from '../../work/chat-threads/model.ts';
import { reportSooner } from '../../work/chat-threads/threads.ts';
import { insertConnectorHook, setConnectorHookSecret } from '../../work/inbound-hooks/operations.ts';
import { ownConnection } from './channels.ts';

export interface NewChatConnection {
  vendor: VendorOf<'chat'>;
  displayName: string;
  botToken: string;
  signingSecret: string;
}

export const listChats = (caller: Caller): Promise<ChatConnection[]> => {
  return ChatConnection.findAll({ orgId: wholeOrganization(caller) });
};

/**
 * Connects a workspace.
 * @throws 400 for a token that the vendor rejects, 409 if the workspace is already connected or the organization has the maximum number of
 * chat connectors, 502
 */
export async function connectChat(caller: Caller, input: NewChatConnection): Promise<ChatConnection> {
  const orgId = wholeOrganization(caller);
  const { vendor, displayName, botToken, signingSecret } = input;
  const integrationId = (await firstStep(async () => newId('integration'))) as Id<'integration'>;
  const connected = await ChatConnection.find({ integrationId, orgId });
  if (connected) return connected;
  const { workspaceId, botUserId } = await accountOf(vendor, botToken);
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    if (await ChatConnection.find({ orgId, workspaceId }, trx))
      throw conflict('The workspace is already connected: rotate its credentials, or disconnect it.');
    const vendorKind = 'chat' as const;
    if ((await Integration.query(trx).where({ orgId, vendorKind }).resultSize()) >= maxConnectors)
      throw conflict(`The organization has ${maxConnectors} chat connectors, which is the maximum.`);
    const connector = { id: integrationId, orgId, vendor, vendorKind, displayName, externalOrgId: workspaceId };
    await insertIntegration(trx, { ...connector, credentials: botToken });
    const createdByUserId = caller.userId;
    await insertConnectorHook(trx, { orgId, vendor, integrationId, name: displayName, createdByUserId }, signingSecret);
    const at = now();
    const row = { integrationId, orgId, workspaceId, botUserId, createdAt: at, updatedAt: at };
    await ChatConnection.insert(trx, { ...row, problem: null });
    await Integration.patch(trx, { id: integrationId }, { checkedAt: at });
    return (await ChatConnection.find({ integrationId }, trx))!;
  });
}

/** The account to which the token belongs. @throws 400 with the field `botToken` when the vendor refuses the token */
async function accountOf(vendor: VendorOf<'chat'>, botToken: string): Promise<ChatAccount> {
  const trial = trialConnection({ vendor, vendorKind: 'chat', baseUrl: null }, botToken, vendorChecks.timeoutMs);
  try {
    return await moduleOf(vendor).chat!.account(trial);
  } catch (error) {
    if (isFinal(error)) throw invalid.field('botToken', error.body.description);
    throw error;
  }
}

export interface ChatCredentials {
  botToken?: string | undefined;
  signingSecret?: string | undefined;
}

/** Replaces the token, the signing secret or both; the earlier token and secret are refused at once. @throws 404, 400, 502 */
export async function rotateChat(
  caller: Caller,
  integrationId: string,
  { botToken, signingSecret }: ChatCredentials,
): Promise<ChatConnection> {
  const before = await ownConnection(caller, integrationId);
  if (botToken === undefined && signingSecret === undefined)
    throw invalid.field('botToken', 'is required unless signingSecret is present');
  const { vendor } = await Integration.get({ id: before.integrationId });
  await releaseTransaction();
  let { botUserId } = before;
  if (botToken !== undefined) {
    const account = await accountOf(vendor as VendorOf<'chat'>, botToken);
    if (account.workspaceId !== before.workspaceId)
      throw invalid.field('botToken', `must be of the workspace ${before.workspaceId}, not of ${account.workspaceId}`);
    ({ botUserId } = account);
    await noteCheck(await replaceCredentials(integrationId, botToken), { failure: null, account: null });
  }
  if (signingSecret !== undefined) await setConnectorHookSecret(before.integrationId, signingSecret);
  // Reports that failed with the old credentials are retried at once.
  await reportSooner(integrationId);
  return recordAccount(before, botUserId);
}
