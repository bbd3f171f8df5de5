// Setup progress of an organization: read it, mark milestones and groups, follow a guide.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, ownPerson, wholeOrganization } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import type { Id } from '#foundation/ids.ts';
import { notFound } from '#foundation/problem.ts';
import { Organization } from '../../organization/organizations/model.ts';
import { pageOfSlug } from '../../organization/organizations/pages.ts';
import { findFirstMission } from '../../work/runs/operations.ts';
import { type GroupId, type GuideId, groups, guideIds, isGuide, isMilestone, type MilestoneId } from './milestones.ts';
import { type MilestoneState, SetupGuide, type SetupMark, SetupMilestone } from './model.ts';

export interface Milestone {
  id: MilestoneId;
  name: string;
  state: MilestoneState;
  reachedAt: number | null;
}

export interface GroupProgress {
  reachedCount: number;
  totalCount: number;
}

export interface Group extends GroupProgress {
  id: GroupId;
  name: string;
  milestones: Milestone[];
}

export interface Guide {
  id: GuideId;
  step: number;
  completedAt: number | null;
}

export interface FirstMission {
  issueId: string;
  orgSlug: string;
  url: string;
}

export interface SetupProgress extends GroupProgress {
  orgId: Id<'organization'>;
  complete: boolean;
  next: MilestoneId | null;
  activeGroup: GroupId | null;
  activeGroupProgress: GroupProgress | null;
  groups: Group[];
  firstMission: FirstMission | null;
  guides: Guide[];
}

/** The setup of the organization. A skipped milestone counts as settled for `complete`, but not as reached. */
export async function readSetup(caller: Caller): Promise<SetupProgress> {
  const orgId = wholeOrganization(caller);
  const [rows, guides, firstMission] = await Promise.all([
    SetupMilestone.findAll({ orgId }),
    readGuides(orgId, caller.userId),
    readFirstMission(orgId),
  ]);
  const byId = new Map(rows.map((row) => [row.milestoneId, row]));
  const groupsWithState = groups.map(({ id, name, milestones }): Group => {
    const milestonesWithState = milestones.map((milestone) => ({ ...milestone, ...stateOf(byId.get(milestone.id)) }));
    return { id, name, ...countOf(milestonesWithState), milestones: milestonesWithState };
  });
  const all = groupsWithState.flatMap(({ milestones }) => milestones);
  const active = groupsWithState.find(({ milestones }) => milestones.some(isOpen));
  return {
    orgId,
    ...countOf(all),
    complete: active === undefined,
    next: active?.milestones.find(isOpen)?.id ?? null,
    activeGroup: active?.id ?? null,
    activeGroupProgress: active ? countOf(active.milestones) : null,
    groups: groupsWithState,
    firstMission,
    guides,
  };
}

const isOpen = ({ state }: Milestone): boolean => state === 'open';

const countOf = (milestones: readonly Milestone[]): GroupProgress => ({
  reachedCount: milestones.filter(({ state }) => state === 'done').length,
  totalCount: milestones.length,
});

/** The state of a milestone. A reached milestone is done, even if a person has marked it otherwise. */
function stateOf(row: SetupMilestone | undefined): Pick<Milestone, 'state' | 'reachedAt'> {
  if (!row || (row.reachedAt === null && row.mark === null)) return { state: 'open', reachedAt: null };
  if (row.reachedAt !== null) return { state: 'done', reachedAt: row.reachedAt };
  return row.mark === 'done' ? { state: 'done', reachedAt: row.markedAt } : { state: 'skipped', reachedAt: null };
}

/** The caller's progress in each guide; step 0 for a caller that is not a person. */
async function readGuides(orgId: string, userId: string | null): Promise<Guide[]> {
  const rows = userId === null ? [] : await SetupGuide.findAll({ orgId, userId });
  return guideIds.map((id) => {
    const row = rows.find(({ guideId }) => guideId === id);
    return { id, step: row?.step ?? 0, completedAt: row?.completedAt ?? null };
  });
}

async function readFirstMission(orgId: Id<'organization'>): Promise<FirstMission | null> {
  const run = await findFirstMission(orgId);
  if (!run?.issueId) return null;
  const { slug } = await Organization.get({ id: orgId });
  return { issueId: run.issueId, orgSlug: slug, url: pageOfSlug(slug, `/runs/${run.id}`) };
}

/** Marks a milestone; `reset` removes the mark. A reached milestone stays done. @throws 404 */
export async function markMilestone(caller: Caller, milestoneId: string, mark: SetupMark): Promise<SetupProgress> {
  if (!isMilestone(milestoneId)) SetupMilestone.refuse();
  return writeMarks(caller, [milestoneId], mark);
}

/**
 * Sets the mark `done` or `skipped` on the milestones of a group that are still open. `reset` instead removes the marks from all milestones
 * of the group. @throws 404
 */
export async function markGroup(caller: Caller, groupId: string, mark: SetupMark): Promise<SetupProgress> {
  const group = groups.find(({ id }) => id === groupId);
  if (!group) throw notFound('setup group');
  const ids = group.milestones.map(({ id }) => id);
  if (mark === 'reset') return writeMarks(caller, ids, mark);
  const { groups: groupsWithState } = await readSetup(caller);
  const open = groupsWithState.find(({ id }) => id === groupId)!.milestones.filter(isOpen);
  return writeMarks(
    caller,
    open.map(({ id }) => id),
    mark,
  );
}

async function writeMarks(caller: Caller, ids: readonly MilestoneId[], mark: SetupMark): Promise<SetupProgress> {
  const orgId = wholeOrganization(caller);
  const marked = mark === 'reset' ? { mark: null, markedAt: null } : { mark, markedAt: now() };
  // Rows are written in the order of their ids, so that concurrent writers do not deadlock.
  const rows = [...ids].sort().map((milestoneId) => ({ orgId, milestoneId, ...marked }));
  if (rows.length > 0) {
    await SetupMilestone.query().insert(rows).onConflict(['orgId', 'milestoneId']).merge(['mark', 'markedAt']);
  }
  return readSetup(caller);
}

export interface GuideChanges {
  step: number;
  completed: boolean;
}

/** Records how far the caller has come in a guide. Without `completed`, a completed guide becomes open again. @throws 404 */
export async function updateGuide(
  caller: Caller,
  guideId: string,
  { step, completed }: GuideChanges,
): Promise<SetupProgress> {
  beyondOneProject(caller);
  if (!isGuide(guideId)) SetupGuide.refuse();
  const row = { orgId: ownOrganization(caller), userId: ownPerson(caller), guideId, step };
  await SetupGuide.query()
    .insert({ ...row, completedAt: completed ? now() : null })
    .onConflict(['orgId', 'userId', 'guideId'])
    .merge();
  return readSetup(caller);
}
