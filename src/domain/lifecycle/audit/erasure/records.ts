// Other records of the organization that contain a person's name or email address, and remain useful without it.
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import { Registration } from '../../../identity/agent-identities/model.ts';

/** Tables that keep a copy of a person's name, with the columns of the name and of the person's id. */
const named = [
  ['run_messages', 'author', 'author_user_id'],
  ['issue_comments', 'author', 'author_user_id'],
  ['reviews', 'author', 'author_user_id'],
  ['agent_versions', 'author', 'author_user_id'],
  ['terminals', 'author', 'author_user_id'],
  ['attempt_groups', 'decided_by', 'decided_by_user_id'],
  ['outside_effects', 'decided_by', 'decided_by_user_id'],
] as const;

/** The text that replaces the name of an erased person. */
export const erasedName = 'Erased person';

/** Replaces the person's name in records that other people still read; returns the number of changed records. */
export async function replaceNames(trx: Transaction, orgId: string, personId: string): Promise<number> {
  let changed = 0;
  for (const [table, name, id] of named) {
    const text = `update ${table} set ${name} = $3 where org_id = $1 and ${id} = $2 and ${name} <> $3 returning 1 as changed`;
    changed += (await sql(text, [orgId, personId, erasedName], trx)).length;
  }
  await Registration.query(trx).where({ orgId, userId: personId }).whereNotNull('email').patch({ email: null });
  return changed;
}
