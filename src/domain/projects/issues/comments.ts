// Comments on issues of the built-in tracker: list, read, write, edit, and maintain the comment of a mission.
import type { Caller } from '#access/principal.ts';
import { withinReach } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import type { Page, PageRequest } from '#foundation/postgres/cursor.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { conflict } from '#foundation/problem.ts';
import { issueCounts } from './bounds.ts';
import { IssueComment } from './comment-model.ts';
import { Issue } from './model.ts';
import { findIssue } from './operations.ts';

/** Lists the comments of an issue, oldest first. @throws 404 for an unknown issue */
export async function listComments(
  caller: Caller,
  { issueId, ...page }: PageRequest & { issueId: string },
): Promise<Page<IssueComment>> {
  const { id } = await findIssue(caller, issueId);
  return IssueComment.page(Object.assign({}, withinReach(caller), { issueId: id }), page);
}

/** Comments by people, for agents. Comments by missions are left out, because they contain nothing that an agent needs. */
export const readComments = async (
  issueId: Issue['id'],
  trx?: Transaction,
): Promise<{ author: string; text: string }[]> => {
  const comments = await IssueComment.query(trx)
    .select('author', 'body')
    .where({ issueId })
    .whereNull('runId')
    .orderBy([{ column: 'createdAt' }, { column: 'id' }]);
  return comments.map(({ author, body }) => ({ author, text: body }));
};

type NewComment = Pick<IssueComment, 'body' | 'author' | 'authorUserId'>;

/** Adds a comment to the locked issue. @throws 409 when it has the maximum number of comments */
export async function addComment(trx: Transaction, issue: Issue, comment: NewComment): Promise<IssueComment> {
  const { id: issueId, orgId, projectId } = issue;
  if ((await IssueComment.query(trx).where({ issueId }).resultSize()) >= issueCounts.comments) {
    throw conflict(`The issue has ${issueCounts.comments} comments, which is the maximum.`);
  }
  const at = now();
  const place = { id: newId('issueComment'), orgId, projectId, issueId };
  const written = { ...place, runId: null, effect: null, ...comment, createdAt: at, updatedAt: at };
  await IssueComment.insert(trx, written);
  await Issue.patch(trx, { id: issueId }, { updatedAt: nowAfter(issue.updatedAt) });
  return written;
}

const writeMissionCommentSql = `insert into issue_comments
    (id, org_id, project_id, issue_id, author, run_id, body, created_at, updated_at)
  select $1, org_id, project_id, id, 'Mission', $3, $4, $5, $5 from issues where id = $2
  on conflict on constraint issue_comments_run do update set body = excluded.body, updated_at = excluded.updated_at
    where issue_comments.body <> excluded.body`;

/** Writes the comment of a mission, or replaces its text. */
export const writeMissionComment = async (issueId: string, runId: string, body: string): Promise<void> => {
  await sql(writeMissionCommentSql, [newId('issueComment'), issueId, runId, body, now()]);
};
