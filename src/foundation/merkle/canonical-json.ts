// Canonical JSON (RFC 8785): equal values have the same text in every implementation. JavaScript prints numbers and strings as the RFC
// demands.

/** Prints a value as canonical JSON. @param value JSON: no undefined, no bigint */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const element of value) text += `${text && ','}${canonicalJson(element)}`;
    return `[${text}]`;
  }
  const object = value as Readonly<Record<string, unknown>>;
  // RFC 8785 sorts names by their UTF-16 code units, as `sort` does.
  for (const name of Object.keys(object).sort())
    text += `${text && ','}${JSON.stringify(name)}:${canonicalJson(object[name])}`;
  return `{${text}}`;
}
