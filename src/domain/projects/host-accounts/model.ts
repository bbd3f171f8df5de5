// The account of a member at a source host or chat of the organization. An administrator links the account; its events are then attributed
// to the member.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export class HostAccount extends table('host_accounts', {
  orgId: column<Id<'organization'>>(),
  userId: column<Id<'person'>>(),
  vendor: column<string>(),
  /** The server of the vendor, such as `api.github.com`, or the workspace of a chat. */
  host: column<string>(),
  /** The vendor's id of the account, which stays the same when the login changes. */
  account: column<string>(),
  login: column<string>(),
  createdAt: column<number>(),
}) {
  static override noun = 'account';
  static override idColumn = ['orgId', 'vendor', 'host', 'account'];
  static override order = '"created_at", "vendor", "host"';
  static visibleTo = orgWide;
}

/** An account as an event identifies it. */
export type AccountAt = Pick<HostAccount, 'vendor' | 'host' | 'account'>;
