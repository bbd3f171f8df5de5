// GraphQL enums of vendors, with their descriptions.
import {
  chatVendors,
  eventVendors,
  profiles,
  type Vendor,
  type VendorProfile,
  vendorNames,
  vendorsOf,
} from './model.ts';

const wordsOf = <V extends Vendor>(
  names: readonly [V, ...V[]],
  text: (profile: VendorProfile) => string | undefined,
) => ({
  names,
  texts: Object.fromEntries(names.map((name) => [name, text(profiles[name]) ?? ''])) as Record<V, string>,
});

export const vendorWords = wordsOf(vendorNames, ({ about }) => about);
/** Trackers with the default one first. */
export const trackerWords = wordsOf(
  ['builtin', ...vendorsOf('tracker').filter((name) => name !== 'builtin')],
  ({ tracker }) => tracker,
);
export const chatWords = wordsOf(chatVendors, ({ about }) => about);
const hookVendors = [...eventVendors, ...chatVendors] as const;
export const eventWords = wordsOf(hookVendors, ({ hook, chat }) => (hook ?? chat)?.about);
export const signatureWords = wordsOf(hookVendors, ({ hook, chat }) => (hook ?? chat)?.signature);
