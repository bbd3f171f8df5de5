// The modules that implement a vendor. Which of them exist depends on the kinds of connectors that the vendor offers.
import { z } from 'zod';
import { text } from '#limits.ts';
import type { Vendor } from '../integrations/model.ts';
import type { CheckResult } from '../integrations/operations.ts';
import type { AgentSessions } from './agent-session.ts';
import type { Chat } from './chat.ts';
import type { VendorConnection } from './connection.ts';
import type { EventSource } from './event.ts';
import type { Repository } from './source-host.ts';
import type { Tracker } from './tracker.ts';

/** Names of accounts at vendors, which connectors show. */
export const AccountName = z
  .string()
  .max(text.externalOrgId.max)
  .regex(/^[\w.[\]-]+$/);

export interface Verdict extends CheckResult {
  /** The input that a person must correct; null when no input is wrong, or the vendor did not say which. */
  field: 'credentials' | 'baseUrl' | null;
}

export const accepted = (account: string | null): Verdict => ({ failure: null, field: null, account });
export const rejected = (field: Verdict['field'], failure: string): Verdict => ({ failure, field, account: null });

/** Credentials of an application at a vendor, instead of a token. */
export interface AppCredentials {
  vendor: Vendor;
  /** Name of the input member that contains these credentials. */
  field: string;
  /** Serializes the credentials. @throws 400 */
  write(): string;
}

export interface VendorModule {
  /**
   * Checks the credentials, with a call that changes nothing and costs nothing; absent for a vendor without credentials.
   * @throws the same Problems as the operations of a tracker
   */
  check?(connection: VendorConnection): Promise<Verdict>;
  tracker?: Tracker;
  sourceHost?: Repository;
  events?: EventSource;
  chat?: Chat;
  sessions?: AgentSessions;
}
