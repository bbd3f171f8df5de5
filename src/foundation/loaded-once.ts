// Loads a module at its first use.

/**
 * Returns a function that loads once. A failed load, for example because no file can be opened, is repeated at the next call. Node 20
 * itself remembers a failed import until a restart; later releases do not.
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
