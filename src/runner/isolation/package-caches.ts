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

/** Images set other folders, which missions cannot write to. Without its flag, Go's cache could not be removed by its owner. */
export const cacheVariables = (home: string): Record<string, string> => ({
  NPM_CONFIG_CACHE: `${home}/.npm`,
  PIP_CACHE_DIR: `${home}/.cache/pip`,
  UV_CACHE_DIR: `${home}/.cache/uv`,
  YARN_CACHE_FOLDER: `${home}/.cache/yarn`,
  CARGO_HOME: `${home}/.cargo`,
  GOPATH: `${home}/go`,
  GOFLAGS: '-modcacherw',
});
