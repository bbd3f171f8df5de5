// Canonical JSON (RFC 8785): one text for one value, whoever writes it. JavaScript’s own texts of numbers and strings are those of the RFC.

/** @param value JSON: no undefined, no bigint */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // Names are sorted by their UTF-16 code units.
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
