// Public package registries that the network policy `packages` reaches. Data only: pages show the names, and runtimes
// get the hosts. Excludes hosts where anyone can publish arbitrary content, such as source hosts.

export interface PackageRegistry {
  name: string;
  hosts: readonly string[];
}

export const packageRegistries: readonly PackageRegistry[] = [
  { name: 'npm', hosts: ['registry.npmjs.org', 'registry.yarnpkg.com', 'nodejs.org'] },
  { name: 'JSR', hosts: ['jsr.io', 'npm.jsr.io'] },
  { name: 'PyPI', hosts: ['pypi.org', 'files.pythonhosted.org'] },
  { name: 'conda', hosts: ['conda.anaconda.org', 'repo.anaconda.com'] },
  { name: 'crates.io', hosts: ['crates.io', 'index.crates.io', 'static.crates.io', 'static.rust-lang.org'] },
  { name: 'Go modules', hosts: ['proxy.golang.org', 'sum.golang.org'] },
  { name: 'Maven Central', hosts: ['repo.maven.apache.org', 'repo1.maven.org'] },
  { name: 'Gradle', hosts: ['plugins.gradle.org', 'plugins-artifacts.gradle.org', 'services.gradle.org'] },
  { name: 'RubyGems', hosts: ['rubygems.org', 'index.rubygems.org'] },
  { name: 'Packagist', hosts: ['packagist.org', 'repo.packagist.org'] },
  { name: 'NuGet', hosts: ['api.nuget.org'] },
  { name: 'Hex', hosts: ['hex.pm', 'repo.hex.pm', 'builds.hex.pm'] },
  { name: 'pub.dev', hosts: ['pub.dev'] },
  { name: 'Debian', hosts: ['deb.debian.org', 'security.debian.org'] },
  { name: 'Ubuntu', hosts: ['archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'] },
  { name: 'Alpine', hosts: ['dl-cdn.alpinelinux.org'] },
];
