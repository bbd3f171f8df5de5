// Keeps downloads of package managers in the home of a mission, regardless of its image and account.

/** Paths of the caches in the home directory. */
export const packageCaches = [
  '.npm/_cacache',
  '.cache/pip',
  '.cache/uv',
  '.cache/yarn',
  '.cargo/registry',
  'go/pkg/mod',
  '.m2/repository',
];

/**
 * Variables of the package managers, because images set other folders, which missions cannot write to. GOFLAGS keeps
 * Go's cache removable by its owner.
 */
export const cacheVariables = (home: string): Record<string, string> => ({
  NPM_CONFIG_CACHE: `${home}/.npm`,
  PIP_CACHE_DIR: `${home}/.cache/pip`,
  UV_CACHE_DIR: `${home}/.cache/uv`,
  YARN_CACHE_FOLDER: `${home}/.cache/yarn`,
  CARGO_HOME: `${home}/.cargo`,
  GOPATH: `${home}/go`,
  GOFLAGS: '-modcacherw',
});
