// Compares the stored events with the leaves of their tree, in the order of their numbers.

import { tileWidth } from '#foundation/merkle/tiles.ts';
import { hashBytes, leafHash } from '#foundation/merkle/tree.ts';
import { sql, type Transaction } from '#foundation/postgres/database.ts';
import type { AuditEvent } from '../model.ts';
import { entryText, readEntries, type StoredEvent } from './entry.ts';
import type { Findings } from './findings.ts';
import { absentLeaf, type TreeState } from './growth.ts';
import { readTile } from './tiles.ts';

/** Maximum number of differing entries that are compared with each other to detect swaps. */
const maxCompared = 50;

const addedSql = `select number from audit_events where org_id = $1 and (number < 1 or number > $2) order by number limit 1000`;

interface Differing {
  event: StoredEvent;
  leaf: Buffer;
}

/** Calls `onLeaf` with the stored hash of each leaf, and reports each event whose computed hash differs from its leaf. */
export async function verifyEntries(
  trx: Transaction,
  orgId: string,
  { state, findings, onLeaf }: { state: TreeState; findings: Findings; onLeaf: (number: number, leaf: Buffer) => void },
): Promise<void> {
  const differing: Differing[] = [];
  for (let size = 0; size < state.treeSize; size += tileWidth) {
    const tile = await readTile(orgId, 0, size / tileWidth, trx);
    const events = await eventsByNumber(trx, orgId, size, Math.min(size + tileWidth, state.treeSize));
    for (let i = 0; i < tileWidth && size + i < state.treeSize; i++) {
      const number = size + i + 1;
      const stored = tile.subarray(i * hashBytes, (i + 1) * hashBytes);
      const under = events.get(number) ?? [];
      if (under.length > 1) findings.entry('added', number);
      const found = under.map((event) => ({ event, computed: leafHash(entryText(event)) }));
      const fitting = found.find(({ computed }) => computed.equals(stored)) ?? found[0];
      const { event, computed } = fitting ?? { event: undefined, computed: absentLeaf };
      if (stored.length < hashBytes) findings.entry('unhashed', number);
      else if (!event && number >= state.firstNumber) findings.entry('missing', number);
      else if (event && !stored.equals(computed)) differing.push({ event, leaf: Buffer.from(stored) });
      onLeaf(number, stored.length < hashBytes ? computed : stored);
    }
  }
  reportDiffering(differing, findings);
  for (const { number } of await sql<{ number: number }>(addedSql, [orgId, state.lastNumber], trx)) {
    findings.entry('added', number);
  }
}

async function eventsByNumber(
  trx: Transaction,
  orgId: string,
  begin: number,
  end: number,
): Promise<Map<number, AuditEvent[]>> {
  const events = new Map<number, AuditEvent[]>();
  for (const event of await readEntries(trx, orgId, begin, end)) {
    events.set(event.number, [...(events.get(event.number) ?? []), event]);
  }
  return events;
}

/** Reports two entries as swapped when each matches the leaf of the other; any other entry is reported as edited. */
function reportDiffering(differing: readonly Differing[], findings: Findings): void {
  const swapped = new Set<Differing>();
  const compared = differing.slice(0, maxCompared);
  for (const [i, one] of compared.entries()) {
    const other = compared.slice(i + 1).find((other) => fits(one, other) && fits(other, one));
    if (!other || swapped.has(one) || swapped.has(other)) continue;
    for (const each of [one, other]) swapped.add(each);
    findings.add(`Entries ${one.event.number} and ${other.event.number} were swapped.`);
  }
  for (const one of differing) if (!swapped.has(one)) findings.entry('edited', one.event.number);
}

/**
 * Whether the leaf of the first entry is a hash of the content of the second entry, as after a swap. If the entries were swapped, their times may
 * have been swapped too, or may have stayed. The content of the second entry is therefore hashed with the number of the first entry, and with the
 * time of either entry. One of these two hashes has to equal the leaf.
 */
const fits = ({ event: { number, createdAt }, leaf }: Differing, { event }: Differing): boolean =>
  [event.createdAt, createdAt].some((time) => leafHash(entryText({ ...event, number, createdAt: time })).equals(leaf));
