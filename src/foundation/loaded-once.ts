// What is loaded at its first use, and kept.

/**
 * A load that fails (no file can be opened, say) is repeated at the next use. Node 20 keeps the failure of a module until a restart,
 * later releases do not.
 */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
