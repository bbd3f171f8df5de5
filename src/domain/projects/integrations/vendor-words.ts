// Sets of vendors with their descriptions, for the graph.
import { eventVendors, profiles, type Vendor, type VendorProfile, vendorNames, vendorsOf } from './model.ts';

const wordsOf = <V extends Vendor>(
  names: readonly [V, ...V[]],
  text: (profile: VendorProfile) => string | undefined,
) => ({
  names,
  texts: Object.fromEntries(names.map((name) => [name, text(profiles[name]) ?? ''])) as Record<V, string>,
});

export const vendorWords = wordsOf(vendorNames, ({ about }) => about);
/** The default tracker is the first. */
export const trackerWords = wordsOf(
  ['builtin', ...vendorsOf('tracker').filter((name) => name !== 'builtin')],
  ({ tracker }) => tracker,
);
export const eventWords = wordsOf(eventVendors, ({ hook }) => hook?.about);
export const signatureWords = wordsOf(eventVendors, ({ hook }) => hook?.signature);
