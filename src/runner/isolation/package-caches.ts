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
 * Environment variables that make the package managers keep their caches in the home directory. They are set because an image may choose
 * other folders, which missions cannot write to. With `GOFLAGS`, Go leaves its cache writable, so that the owner of the cache can delete
 * it.
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
