// Ids that this service chooses for its records in Linear: a repeated creation is refused, and events show who wrote a record.
import { createHash } from 'node:crypto';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The last part of an id is a digest of the other parts. By this digest, the service recognizes ids that it has created itself. */
const signed = (head: string): string => `${head}-${digest(`record of a mission ${head}`).slice(0, 12)}`;

/** A UUID in the form of version 4, which Linear accepts from clients, derived from the names. */
export function recordId(...names: string[]): string {
  const hex = digest(names.join('\n'));
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4];
  return signed(`${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}`);
}

/** Whether a mission wrote the record; such a record starts no other mission. */
export const isRecordId = (id: string): boolean => signed(id.slice(0, 23)) === id;
