// Canonical JSON (RFC 8785): equal values have the same text in every implementation. JavaScript prints numbers and strings as the RFC
// demands.

/** Prints a value as canonical JSON. @param value JSON: no undefined, no bigint */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // RFC 8785 sorts names by their UTF-16 code units.
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
