// Lazy loading at first use.

/**
 * A failed load (no file can be opened, for example) is repeated at the next use. Node 20 caches the failure of a module until a restart,
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
