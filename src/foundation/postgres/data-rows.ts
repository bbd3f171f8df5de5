// Parses each row of a response from one string. pg's parser converts every field to text separately, which for short fields takes
// longer than all other processing: a page of 100 records has 1,700 fields (bench/README.md).
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';

/** Type of the message DataRow (PostgreSQL, 53.7). */
const dataRow = 'D'.charCodeAt(0);
/**
 * Longest row in bytes that is decoded as one string. The fields of a longer row are decoded separately: a field that the caller keeps
 * would otherwise keep the whole row in memory.
 */
const maxRowsAtOnce = 2_000;

/** Parses a row: the number of fields, then each field after its length, which is -1 for null. */
function fieldsOf(bytes: Buffer, start: number, end: number): (string | null)[] {
  // Latin-1 has one character per byte, so that positions in the text equal those in the buffer.
  const text = bytes.toString('latin1', start, end);
  const fields = new Array<string | null>(bytes.readUInt16BE(start));
  let at = start + 2;
  for (let i = 0; i < fields.length; i++) {
    const from = at + 4;
    const length = bytes.readInt32BE(at);
    at = from + Math.max(length, 0);
    if (length === -1) fields[i] = null;
    else fields[i] = isAscii(bytes, from, at) ? text.slice(from - start, at - start) : bytes.toString('utf8', from, at);
  }
  return fields;
}

function isAscii(bytes: Buffer, from: number, to: number): boolean {
  let all = 0;
  for (let i = from; i < to; i++) all |= bytes[i]!;
  return all < 0x80;
}

/** The part of pg's parser that is overridden. */
interface Packets {
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): object;
}

/** Installs the parser on an open connection without a pending response. */
export function readRowsInOnePiece(client: pg.Client): void {
  const { connection } = client as unknown as { connection: EventEmitter & { stream: Socket } };
  const parser = new Parser();
  const packets = parser as unknown as Packets;
  const others = packets.handlePacket;
  packets.handlePacket = function (this: Packets, offset, code, length, bytes) {
    return code === dataRow && length <= maxRowsAtOnce
      ? { name: 'dataRow', fields: fieldsOf(bytes, offset, offset + length - 4) }
      : others.call(this, offset, code, length, bytes);
  };
  connection.stream
    .removeAllListeners('data')
    .on('data', (bytes: Buffer) =>
      parser.parse(bytes, (message) =>
        connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message),
      ),
    );
}
