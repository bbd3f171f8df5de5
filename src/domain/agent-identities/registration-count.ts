// So many registrations in an hour from one address, over all processes (specification, Registration rate). One statement counts,
// so that any number at once are counted exactly.
import { isIPv6 } from 'node:net';
import { hours, now } from '#foundation/clock.ts';
import { sql } from '#foundation/database.ts';
import { tooMany } from '#foundation/problem.ts';

const count = `insert into registration_counts as c (address, count, window_ends_at) values ($1, 1, $3)
  on conflict (address) do update set
    count = case when c.window_ends_at <= $2 then 1 else c.count + 1 end,
    window_ends_at = case when c.window_ends_at <= $2 then $3 else c.window_ends_at end
  returning count, window_ends_at`;

/** @throws 429 with `Retry-After` when the address has had its number in this hour */
export async function countRegistration(address: string, perHour: number): Promise<void> {
  const at = now();
  const [row] = await sql<{ count: number; windowEndsAt: number }>(count, [networkOf(address), at, at + hours(1)]);
  if (row!.count <= perHour) return;
  throw tooMany(Math.max(1, Math.ceil((row!.windowEndsAt - at) / 1_000)), 'Too many agents were registered from here.');
}

/** Of IPv6 the network: whoever has one address there has 2⁶⁴ of them. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!isIPv6(address)) return address;
  // As URLs write it: lower case, without leading zeros, the longest run of zeros left out.
  const written = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  const [head, tail] = written.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = tail ? [...head!, ...Array(8 - head!.length - tail.length).fill('0'), ...tail] : head!;
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Forgets the hours that are over. */
export const sweepRegistrationCounts = async (): Promise<void> => {
  await sql('delete from registration_counts where window_ends_at <= $1', [now()]);
};
