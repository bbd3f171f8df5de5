// Operations on the saved views of a person: list, create, change and delete.
import type { Caller } from '#access/principal.ts';
import { ownPerson, wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { conflict } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { maxViews } from './bounds.ts';
import { MissionView } from './model.ts';

export type NewView = Pick<MissionView, 'name' | 'layout' | 'groupBy' | 'filters'>;

function ofCaller(caller: Caller) {
  return { orgId: wholeOrganization(caller), userId: ownPerson(caller) };
}

/** The caller's own views, oldest first. */
export const listViews = async (caller: Caller): Promise<MissionView[]> => MissionView.findAll(ofCaller(caller));

/** Creates a view. @throws 409 for a name that the person already uses, and beyond the maximum number of views */
export async function createView(caller: Caller, input: NewView): Promise<MissionView> {
  const own = ofCaller(caller);
  const at = now();
  const view = { id: newId('missionView'), ...own, ...input, createdAt: at, updatedAt: at };
  await transaction(async (trx) => {
    await lockOrganization(trx, own.orgId);
    if ((await MissionView.query(trx).where(own).resultSize()) >= maxViews)
      throw conflict(`A person can save at most ${maxViews} views.`);
    await MissionView.insert(trx, view);
  }).catch(explain);
  return view;
}

/** Replaces the view. @throws 404, 409 for a name that the person uses */
export async function updateView(caller: Caller, viewId: string, input: NewView): Promise<MissionView> {
  const { id, updatedAt } = await MissionView.get({ id: viewId, ...ofCaller(caller) });
  const changes = { ...input, updatedAt: nowAfter(updatedAt) };
  const [after] = await MissionView.patchReturning(undefined, { id }, changes).catch(explain);
  return after ?? MissionView.refuse();
}

/** Deletes a view. @throws 404 */
export async function deleteView(caller: Caller, viewId: string): Promise<{ ok: true; id: string }> {
  const deleted = await MissionView.query()
    .delete()
    .where({ id: viewId, ...ofCaller(caller) });
  return deleted ? { ok: true, id: viewId } : MissionView.refuse();
}

function explain(error: unknown): never {
  if (!isUniqueViolation(error, 'mission_views_name')) throw error;
  throw conflict.field('name', 'is already the name of another of your views');
}
