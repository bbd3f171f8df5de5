// Downloads of package managers, which stay in the home of a mission whatever its image or account says.

/** Paths in the home. */
export const packageCaches = [
  '.npm/_cacache',
  '.cache/pip',
  '.cache/uv',
  '.cache/yarn',
  '.cargo/registry',
  'go/pkg/mod',
  '.m2/repository',
];

/** Images name other folders, which missions cannot write. Go's cache could not be removed by its owner without its flag. */
export const cacheVariables = (home: string): Record<string, string> => ({
  NPM_CONFIG_CACHE: `${home}/.npm`,
  PIP_CACHE_DIR: `${home}/.cache/pip`,
  UV_CACHE_DIR: `${home}/.cache/uv`,
  YARN_CACHE_FOLDER: `${home}/.cache/yarn`,
  CARGO_HOME: `${home}/.cargo`,
  GOPATH: `${home}/go`,
  GOFLAGS: '-modcacherw',
});
