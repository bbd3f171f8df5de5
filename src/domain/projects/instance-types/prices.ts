// Prices of sandboxes per started minute, in US dollars, as the operator sets them. A type without a price costs nothing.
import { type InstanceTypeId, instanceTypeIds } from './model.ts';
import { defaultInstanceType } from './sizes.ts';

let prices: Readonly<Record<string, number>> = {};

/** Sets the prices; called once at startup. @throws for a name that is not an instance type */
export function bindInstancePrices(set: Readonly<Record<string, number>>): void {
  const unknown = Object.keys(set).filter((name) => !instanceTypeIds.some((id) => id === name));
  if (unknown.length > 0)
    throw new Error(
      `INSTANCE_PRICES: ${unknown.join(', ')} is not an instance type; the instance types are ${instanceTypeIds.join(', ')}`,
    );
  prices = set;
}

/** US dollars for each started minute of a mission. @param type Null when the mission has not chosen one. */
export const pricePerMinute = (type: InstanceTypeId | null): number => prices[type ?? defaultInstanceType] ?? 0;
