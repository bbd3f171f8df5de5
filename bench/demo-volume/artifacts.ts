// Creates the demo's artifacts: rows in bulk, and a real file in the storage for each.
import { crc32, deflateSync } from 'node:zlib';
import { days, now } from '#foundation/clock.ts';
import { database, sql, transaction } from '#foundation/postgres/database.ts';
import { storage } from '#foundation/storage/storage.ts';
import { bytes, lifetimesMs } from '#limits.ts';
import { type DemoParties, type Filled, fill, momentOf, numbered } from './runs.ts';

/** Number of concurrent writes to the storage, and of artifacts per transaction. */
const [atOnce, batch] = [32, 1_000];

interface Missing {
  n: number;
  key: string;
}

const findMissingSql = `select n::int, ${numbered('cnt')} as key from generate_series($2::bigint, $3::bigint) n
  where not exists (select from artifacts where id = ${numbered('art')}) order by n`;
// Sets `created_at` again: otherwise, contents that an interrupted call has stored could be deleted before their artifact exists.
const reserveContentsSql = `insert into stored_contents (key, created_at) select key, $2 from unnest($1::text[]) key order by key
  on conflict (key) do update set created_at = excluded.created_at`;

const kinds = ['screenshot', 'report', 'log'] as const;
const [captions, types] = [
  ['The page after the change', 'What was checked', 'The output of the checks'],
  ['image/png', 'text/plain', 'text/plain'],
];

// Number of artifacts per sandbox. Sandboxes older than 60 days get none, because the artifacts would be about to expire.
const insertArtifactsSql = `with inserted as (
  insert into artifacts (id, org_id, project_id, session_id, sandbox_id, role, kind, content_type, size_bytes, caption, criterion,
    criterion_passed, content_key, created_at, expires_at)
  select ${numbered('art')}, $1, coalesce(s.project_id, ($2::text[])[1 + n % cardinality($2::text[])]),
    case when s.id is not null then 'demo' end, s.id, 'builder', ($6::text[])[kind], ($7::text[])[kind], size, ($8::text[])[kind],
    case kind when 2 then 'All checks pass' end, case kind when 2 then s.status is distinct from 'failed' end, ${numbered('cnt')},
    at, at + ${lifetimesMs.artifact}
  from unnest($3::bigint[], $4::bigint[]) content (n, size)
  left join sandboxes s on s.id = ${numbered('sbx', '((n + 2) / 3)')} and s.destroyed_at > $5::bigint - ${days(60)}
  cross join lateral (select 1 + (n - 1) % 3 as kind, coalesce(s.destroyed_at, ${momentOf('$5::bigint', days(28))}) as at) a
  order by n on conflict do nothing returning 1
) select count(*) as created from inserted`;
const completeContentsSql = `update stored_contents c set size_bytes = size from unnest($1::text[], $2::bigint[]) written (key, size)
  where c.key = written.key`;

export async function fillArtifacts({ orgId, projects }: DemoParties, count: number): Promise<Filled> {
  const filled = await fill('artifacts', orgId, count, batch, async (first, last) => {
    const missing = await sql<Missing>(findMissingSql, [orgId, first, last]);
    const keys = missing.map(({ key }) => key);
    await sql(reserveContentsSql, [keys, now()]);
    const sizes = await writeContents(missing);
    const numbers = missing.map(({ n }) => n);
    const values = [orgId, projects, numbers, sizes, now(), kinds, types, captions];
    return transaction(async (trx) => {
      await sql(completeContentsSql, [keys, sizes], trx);
      return (await sql<{ created: number }>(insertArtifactsSql, values, trx))[0]!.created;
    });
  });
  if (filled.created > 0) await database().raw('analyze artifacts, stored_contents');
  return filled;
}

async function writeContents(contents: readonly Missing[]): Promise<number[]> {
  const sizes: number[] = [];
  for (let first = 0; first < contents.length; first += atOnce) {
    const written = contents.slice(first, first + atOnce).map(({ n, key }) => write(key, contentOf(n)));
    sizes.push(...(await Promise.all(written)));
  }
  return sizes;
}

const write = (key: string, content: Buffer): Promise<number> =>
  storage().write(
    key,
    (async function* () {
      yield content;
    })(),
    bytes.artifact,
  );

/** The content of the n-th artifact. */
function contentOf(n: number): Buffer {
  const kind = kinds[(n - 1) % kinds.length]!;
  if (kind === 'screenshot') return picture(n);
  const text = {
    report: 'Tests and linter have run.',
    log: '$ npm test\nTests 212 passed\n$ npm run lint\nNo problems found',
  };
  return Buffer.from(`${text[kind]}\n(demo, number ${n})\n`);
}

/** A PNG image (third edition) of 64 by 36 pixels with two colors, one of them derived from `n`. */
function picture(n: number): Buffer {
  const [width, height, frame] = [64, 36, 3];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const shade = (step: number) => 96 + ((n * step) % 128);
  const palette = Buffer.from([shade(37), shade(59), shade(83), 245, 245, 245]);
  const rows = Array.from({ length: height }, (_, y) => {
    const inner = y >= frame && y < height - frame;
    // Each row begins with its filter type: 0, none.
    return [0, ...Array.from({ length: width }, (_, x) => (inner && x >= frame && x < width - frame ? 0 : 1))];
  });
  const chunks = [chunk('IHDR', header), chunk('PLTE', palette), chunk('IDAT', deflateSync(Buffer.from(rows.flat())))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(type), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
