// Loads a module at its first use.

/**
 * Returns a function that loads a module once. If loading fails, for example because the process cannot open another file, the next call
 * tries again. In Node 20, an import that has failed fails again until the process restarts; later releases try it again.
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
