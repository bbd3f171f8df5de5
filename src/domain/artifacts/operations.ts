// What can be done with artifacts: list and read them. One that has expired does not exist any more, whether or not it has
// been swept.
import type { Caller } from '#access/principal.ts';
import { withinProject, withinReach } from '#access/reach.ts';
import { now } from '#foundation/clock.ts';
import { emptyPage, type Page, type PageRequest, readPageOf } from '#foundation/cursor.ts';
import { sql } from '#foundation/database.ts';
import { columnsOf, conditions, type Equals, missing, selection } from '#foundation/record.ts';
import { shown } from '#limits.ts';
import { Artifact } from './model.ts';

/** A read of the artifacts that there are now; `equals` is not empty. */
function present(equals: Equals) {
  const { where, values } = conditions(equals);
  return { select: selection(Artifact), where: `${where} and expires_at > $${values.push(now())}`, values };
}

async function findPresent(equals: Equals): Promise<Artifact> {
  const { select, where, values } = present(equals);
  const [artifact] = await sql<Artifact>(select + where, values);
  return artifact ?? missing('artifact');
}

export interface ArtifactFilter extends PageRequest {
  issueId?: string | null | undefined;
  projectId?: string | null | undefined;
  sandboxId?: string | null | undefined;
}

/** Newest first. A project that the caller can't reach has none. */
export async function listArtifacts(
  caller: Caller,
  { issueId, projectId, sandboxId, ...page }: ArtifactFilter,
): Promise<Page<Artifact>> {
  const own = withinProject(caller, projectId);
  if (!own) return emptyPage;
  const equals = { ...own, issueId: issueId ?? undefined, sandboxId: sandboxId ?? undefined };
  return readPageOf<Artifact>({ binding: `artifacts\n${JSON.stringify(equals)}`, ...present(equals) }, page);
}

export const findArtifact = (caller: Caller, artifactId: string): Promise<Artifact> =>
  findPresent({ id: artifactId, ...withinReach(caller) });

/** For whoever holds a signed address, which is all that is asked of them. */
export const artifactBehindAddress = (artifactId: string): Promise<Artifact> => findPresent({ id: artifactId });

const newestOf = (
  parent: 'project_id' | 'sandbox_id' | 'issue_id',
) => `select ${columnsOf(Artifact, 'a')} from unnest($1::text[]) parent (id)
  cross join lateral (${selection(Artifact)} where ${parent} = parent.id and org_id = $2 and expires_at > $3
    and ($4::text is null or project_id = $4) order by created_at desc, id desc limit $5) a`;
const [ofProjects, ofSandboxes, ofIssues] = [newestOf('project_id'), newestOf('sandbox_id'), newestOf('issue_id')];

/** The newest few of each parent. */
const ofParents =
  (text: string) =>
  (ids: readonly string[], caller: Caller): Promise<Artifact[]> => {
    const { orgId, projectId } = withinReach(caller);
    return sql<Artifact>(text, [ids, orgId, now(), projectId, shown.perParent]);
  };

export const artifactsOfProjects = ofParents(ofProjects);
export const artifactsOfSandboxes = ofParents(ofSandboxes);
export const artifactsOfIssues = ofParents(ofIssues);
