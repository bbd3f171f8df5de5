// The notices that a person gets by email: all that need action, except the kinds that the person has turned off.
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholePerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

/** Kinds of notices; the id of a notice begins with its kind. */
export const mailKinds = [
  'credits',
  'cost_cap',
  'budget',
  'token_expiring',
  'connector_broken',
  'schedule_failing',
  'run_waiting',
  'audit_stream',
  'person_needed',
  'webhook_disabled',
  'sign_in_domain',
  'sign_in_certificate',
  'sign_in_metadata',
  'directory_token',
] as const;
export type MailKind = (typeof mailKinds)[number];

export const mailKindOf = (noticeId: string): MailKind | undefined =>
  mailKinds.find((kind) => noticeId.startsWith(kind));

export class NoticeMailSetting extends table('notice_mail_settings', {
  userId: column<Id<'person'>>(),
  kind: column<MailKind>(),
  isEnabled: column<boolean>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'notice mail setting';
  static override idColumn = ['userId', 'kind'];
  static override order = '"kind"';
}

export interface MailChoice {
  kind: MailKind;
  enabled: boolean;
}

/** The choice for every kind of notice, including kinds that the person has never set. */
export async function mailChoicesOf(userId: Id<'person'>): Promise<MailChoice[]> {
  const settings = await NoticeMailSetting.findAll({ userId });
  return mailKinds.map((kind) => ({ kind, enabled: settings.find((one) => one.kind === kind)?.isEnabled ?? true }));
}

export const listMailChoices = (caller: Caller): Promise<MailChoice[]> => mailChoicesOf(ownPerson(caller));

/**
 * Stores whether the person wants notices of this kind by email. The choice applies to all organizations of the person. @throws 403 for a
 * session that reaches only one organization
 */
export async function chooseMail(caller: Caller, { kind, enabled }: MailChoice): Promise<MailChoice[]> {
  wholePerson(caller);
  const userId = ownPerson(caller);
  await NoticeMailSetting.query()
    .insert({ userId, kind, isEnabled: enabled, updatedAt: now() })
    .onConflict(['userId', 'kind'])
    .merge();
  return mailChoicesOf(userId);
}
