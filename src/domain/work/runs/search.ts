// Search of runs by words (migrations/20261210_63_run_texts.sql). The words of a run are indexed when it is created, every two minutes
// while it is open, and after its end. Words of its logs are kept for two weeks.
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import { days, minutes, now, seconds } from '#foundation/clock.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { Comparison } from '#foundation/postgres/reads.ts';
import { foundBy } from '#foundation/postgres/reads.ts';
import { isWritableSql } from '../../organization/cells/state.ts';
import { logsOfRunSql, transcriptOfRunSql } from '../sandboxes/run-texts.ts';
import { isInState, openStates } from './states.ts';

/** Maximum number of words in a search, and of characters of each word; further characters are ignored. */
const max = { words: 10, characters: 60 } as const;
/** Maximum number of characters of a run's texts that are indexed. The newest of its messages are indexed. */
const read = { prompt: 40_000, message: 2_000, messages: 60_000 } as const;
const timing = { rereadMs: minutes(2), settleMs: seconds(60), logsMs: days(14) } as const;
const batch = 20;
const isWritable = isWritableSql('(select org_id from runs where runs.id = run_texts.run_id)');

/**
 * Maximum number of matching runs whose ids are listed. When words are so common that more runs match, the newest runs are scanned instead, which
 * soon finds enough runs for a page.
 */
const maxListed = 2_000;

/** Condition that a run contains all the words, or words that begin with them; undefined without a search. */
export async function findByWords(caller: Caller, search: string | null | undefined): Promise<Comparison | undefined> {
  if (search == null) return undefined;
  const words =
    search
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const wanted = words.slice(0, max.words).map((word) => `'${[...word].slice(0, max.characters).join('')}':*`);
  // The words that are indexed for a run include the id of its organization. Each search also asks for this id, so that the index reads no
  // runs of other organizations. If a text of a run contains the id of another organization, the run is still not found there: the SQL function
  // `words_of` splits the text at the underscore of the id, so the whole id does not become an indexed word. A search without any word asks
  // for 'no word', which no run has, because no indexed word contains a space.
  const query = [`'${ownOrganization(caller)}'`, ...(wanted.length > 0 ? wanted : ["'no word'"])].join(' & ');
  const columns = caller.scopes.has('sandboxes:read') ? ['words', 'all_words'] : ['words'];
  const having = (value: string) =>
    `select run_id from run_texts, (select ${value}::tsquery as query) q where ${columns.map((name) => `${name} @@ query`).join(' or ')}`;
  const found = await sql<{ runId: string }>(`${having('$1')} limit ${maxListed + 1}`, [query]);
  if (found.length > maxListed) return foundBy(query, having('?'), query);
  return foundBy(found.map(({ runId }) => runId).join(), "select unnest(string_to_array(?, ','))", query);
}

const messagesSql = `select left(string_agg(left(m.text, ${read.message}), ' '), ${read.messages}) from (
    select text from run_messages where run_id = r.id order by seq desc limit 100) m`;

const readSql = `with due as (
    select run_id from run_texts where due_at <= $1 and ${isWritable} order by due_at desc limit ${batch} for update skip locked
  ),
  found as (
    select r.id, ${isInState(openStates, 'r')} as is_open, coalesce(r.finished_at, r.updated_at) as ended_at,
      array_to_tsvector(array[r.org_id::text])
        || words_of(left(concat_ws(' ', r.mission_title, r.prompt, r.issue_text), ${read.prompt}))
        || coalesce(words_of((${messagesSql})), '') as words,
      case when r.created_at > $2 then coalesce(words_of((${transcriptOfRunSql('r.id')})), '') || coalesce(words_of((${logsOfRunSql('r.id')})), '') else '' end as logs
    from due join runs r on r.id = due.run_id
  )
  update run_texts t set words = found.words, all_words = case when found.logs <> '' then found.words || found.logs end,
    due_at = case when is_open then $1 + ${timing.rereadMs} when ended_at > $1 - ${timing.settleMs} then ended_at + ${timing.settleMs + 1} end,
    logs_until = case when not is_open then ended_at + ${timing.logsMs} end
  from found where t.run_id = found.id returning t.run_id`;

/** Indexes the texts of runs that are due for indexing; called periodically. */
export async function indexRunTexts(): Promise<void> {
  while ((await sql(readSql, [now(), now() - timing.logsMs])).length === batch);
}

/** Whether the indexing of the run's texts is complete. */
export const isIndexed = async (runId: string): Promise<boolean> =>
  (await sql('select 1 from run_texts where run_id = $1 and due_at is not null', [runId])).length === 0;

const forgetMessagesSql = `update run_texts t set words = found.words, all_words = null, due_at = null, logs_until = null
  from (select id, array_to_tsvector(array[org_id::text])
      || words_of(left(concat_ws(' ', mission_title, prompt, issue_text), ${read.prompt})) as words
    from runs where id = any($1)) found
  where t.run_id = found.id`;

/** Removes the words of messages, transcripts and logs from the index. The runs are still found by the words of their titles and prompts. */
export const forgetWords = async (trx: Transaction, runIds: readonly string[]): Promise<void> => {
  await sql(forgetMessagesSql, [runIds], trx);
};

const forgetSql = `update run_texts set all_words = null, logs_until = null where run_id in (
  select run_id from run_texts where logs_until <= $1 and ${isWritable} order by logs_until limit 500 for update skip locked) returning run_id`;

/** Removes the words of old logs from the index; called periodically. */
export async function removeOldLogWords(): Promise<void> {
  while ((await sql(forgetSql, [now()])).length === 500);
}
