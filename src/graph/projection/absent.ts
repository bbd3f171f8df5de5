// Removes null members from a response if the contract omits these members instead of returning null (`missingConnectorKinds`).
import { type GraphQLOutputType, isListType, isNonNullType, isObjectType } from 'graphql';
import { isAbsentWhenNull, isGraphOnly } from '../exposure.ts';

type Json = Record<string, unknown>;
type Prune = (value: unknown) => void;

/**
 * Returns a function that deletes the null members of a value of this type if the contract omits them. The function is compiled once for
 * each type. Undefined if the contract omits no member of this type or of the types inside it, so that most responses need no search.
 */
export function compilePrune(type: GraphQLOutputType, seen = new Map<string, Prune | undefined>()): Prune | undefined {
  if (isNonNullType(type)) return compilePrune(type.ofType, seen);
  if (isListType(type)) {
    const item = compilePrune(type.ofType, seen);
    return item && ((list) => (list as unknown[] | null)?.forEach(item));
  }
  if (!isObjectType(type)) return undefined;
  if (seen.has(type.name)) return seen.get(type.name);
  seen.set(type.name, undefined);
  const steps: ((object: Json) => void)[] = [];
  for (const [name, field] of Object.entries(type.getFields())) {
    if (isGraphOnly(field)) continue;
    if (isAbsentWhenNull(field)) {
      steps.push((object) => {
        if (object[name] === null) delete object[name];
      });
    }
    const inner = compilePrune(field.type, seen);
    if (inner) {
      steps.push((object) => {
        if (object[name] != null) inner(object[name]);
      });
    }
  }
  const prune: Prune | undefined =
    steps.length === 0
      ? undefined
      : (object) => {
          if (object != null) for (const step of steps) step(object as Json);
        };
  seen.set(type.name, prune);
  return prune;
}
