// The server name in the first message of a TLS client (RFC 8446 §4.1.2, RFC 6066 §3). It is checked before the message is forwarded:
// several hosts may share an address, and the client could otherwise reach one that is not allowed.

/** Maximum bytes of a ClientHello, including the headers of its records. */
export const maxHelloBytes = 64 * 1024;

/** Returns `more` for an incomplete ClientHello, and null for other bytes. The name is empty without the server_name extension. */
export function readServerName(bytes: Buffer): 'more' | { name: string } | null {
  const handshake: Buffer[] = [];
  for (let at = 0, length = 0; ; ) {
    if (at < bytes.length && bytes[at] !== 22) return null;
    if (bytes.length < at + 5) return 'more';
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    const part = bytes.subarray(at + 5, end);
    handshake.push(part);
    length += part.length;
    const message = length >= 4 ? Buffer.concat(handshake) : null;
    if (message && message[0] !== 1) return null;
    if (message && length >= 4 + message.readUIntBE(1, 3))
      return nameIn(message.subarray(4, 4 + message.readUIntBE(1, 3)));
    if (bytes.length < end) return 'more';
    at = end;
  }
}

function nameIn(hello: Buffer): { name: string } | null {
  try {
    // A ClientHello begins with 34 bytes (version and random); then session id, cipher suites and compression methods, each with its
    // length.
    let at = 34;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const names: string[] = [];
    for (at += 2; at < hello.length; ) {
      const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
      // The extension contains a list with one entry: its type (0: a host name), its length, the name.
      if (type === 0) {
        if (hello.readUInt8(at + 6) !== 0 || hello.readUInt16BE(at + 7) !== length - 5) return null;
        names.push(hello.toString('latin1', at + 9, at + 4 + length));
      }
      at += 4 + length;
    }
    return names.length > 1 ? null : { name: names[0] ?? '' };
  } catch {
    return null;
  }
}
