// The bounds of checkpoints.

/** Maximum size of a bundle: the local runner takes none above it. */
export const maxBundleBytes = 256 * 1024 * 1024;
