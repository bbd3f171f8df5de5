// Models of the notices about missions. The people who receive notices about a mission are the person responsible for the mission and the
// followers of the mission. A person receives each notice at most once by email and once in the browser. For each kind of notice, the
// person can choose the channels.
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';

export const missionNoticeKinds = [
  'completed',
  'review',
  'failed',
  'answer',
  'approval',
  'budget',
  'handover',
] as const;
export type MissionNoticeKind = (typeof missionNoticeKinds)[number];

export class MissionNoticeChoice extends table('mission_notice_choices', {
  userId: column<Id<'person'>>(),
  kind: column<MissionNoticeKind>(),
  mail: column<boolean>(),
  browser: column<boolean>(),
  /** Whether a notice of this kind is also posted where the mission was started, such as in a Slack thread. */
  origin: column<boolean>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'mission notice choice';
  static override idColumn = ['userId', 'kind'];
  static override order = '"kind"';
}

export interface MissionNotice {
  id: Id<'missionNotice'>;
  kind: MissionNoticeKind;
  runId: Id<'run'>;
  title: string;
  body: string;
  /** URL of the run's page in the console. */
  url: string;
  createdAt: number;
}
