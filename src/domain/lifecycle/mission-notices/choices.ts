// The channels through which a person gets news of missions, for each kind of news.
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholePerson } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { MissionNoticeChoice, type MissionNoticeKind, missionNoticeKinds } from './model.ts';

export interface Channels {
  mail: boolean;
  browser: boolean;
  origin: boolean;
}
export type ChannelChoice = Channels & { kind: MissionNoticeKind };

/** By default, news that requires action is mailed, and news of a completed mission is only shown in the browser. */
const mailedByDefault: readonly MissionNoticeKind[] = ['failed', 'answer', 'approval', 'budget', 'handover'];
const defaultsOf = (kind: MissionNoticeKind): ChannelChoice => ({
  kind,
  mail: mailedByDefault.includes(kind),
  browser: true,
  origin: true,
});

/** The channels of every kind of news, including kinds that the person has never set. */
export async function channelsOf(userId: Id<'person'>, trx?: Transaction): Promise<ChannelChoice[]> {
  const chosen = await MissionNoticeChoice.findAll({ userId }, trx);
  return missionNoticeKinds.map((kind) => chosen.find((one) => one.kind === kind) ?? defaultsOf(kind));
}

export const listChannels = (caller: Caller): Promise<ChannelChoice[]> => channelsOf(ownPerson(caller));

const chooseSql = `insert into mission_notice_choices as c (user_id, kind, mail, browser, origin, updated_at)
  values ($1, $2, coalesce($3, $6::boolean), coalesce($4, $7::boolean), coalesce($5, $8::boolean), $9)
  on conflict (user_id, kind) do update set mail = coalesce($3, c.mail), browser = coalesce($4, c.browser),
    origin = coalesce($5, c.origin), updated_at = $9`;

export interface ChannelChange {
  kind: MissionNoticeKind;
  mail?: boolean | null | undefined;
  browser?: boolean | null | undefined;
  origin?: boolean | null | undefined;
}

/**
 * Changes the channels (email, browser, the place where a mission was started) on which the caller is notified, in every organization. An
 * absent channel is unchanged.
 * @throws 403 for a session of one organization
 */
export async function chooseChannels(caller: Caller, change: ChannelChange): Promise<ChannelChoice[]> {
  wholePerson(caller);
  const userId = ownPerson(caller);
  const { kind, mail = null, browser = null, origin = null } = change;
  const defaults = defaultsOf(kind);
  const preset = [defaults.mail, defaults.browser, defaults.origin];
  await sql(chooseSql, [userId, kind, mail, browser, origin, ...preset, now()]);
  return channelsOf(userId);
}
