// Deletes the texts of reviews together with the details of their runs; the verdicts are kept.
import { sql, type Transaction } from '#foundation/postgres/database.ts';

const statements = [
  'delete from review_comments where review_id in (select id from reviews where run_id = any($1))',
  `update reviews set body = '' where run_id = any($1) and body <> ''`,
];

export const deleteReviewTexts = async (trx: Transaction, runIds: readonly string[]): Promise<void> => {
  for (const statement of statements) await sql(statement, [runIds], trx);
};
