// Lists the names of all fields that hold a time, with the unit of each time according to its scalar type in the schema. The typed client
// converts the values of these fields to `Date`.
import { getNamedType, isIntrospectionType, isObjectType } from 'graphql';
import { schema } from '#schema.ts';

/**
 * Milliseconds per unit of each scalar. An ISO text counts as milliseconds, because `Date` reads both; values of Json are not converted.
 */
const units: Record<string, number> = { EpochMs: 1, IsoTime: 1, EpochSec: 1_000, Json: 0 };

export function clientTimes(): string {
  const found = new Map<string, number | undefined>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const { name, type: of } of Object.values(type.getFields())) {
      const unit = units[getNamedType(of).name];
      if (found.has(name) && found.get(name) !== unit && (unit || found.get(name)))
        throw new Error(`${type.name}.${name}: elsewhere a member of this name is another kind of time, or none`);
      if (unit !== undefined || !found.has(name)) found.set(name, unit);
    }
  }
  const members = [...found].filter(([, unit]) => unit !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  return `/** The names of the fields that hold a time. The number says how many milliseconds the unit of the time has. 0 marks a field with JSON whose structure the API does not define. */\nexport const times = {\n${members.map(([name, unit]) => `  ${name}: ${unit},`).join('\n')}\n} as const;\n`;
}
