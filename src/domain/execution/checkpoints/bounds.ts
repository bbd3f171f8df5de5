// Limits of checkpoints.

/** Maximum size of a bundle; the local runner refuses a larger one. */
export const maxBundleBytes = 256 * 1024 * 1024;
