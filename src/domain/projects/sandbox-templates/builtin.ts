// The built-in sandbox template as the catalog of agents lists it. Data, no code.

export interface CatalogTemplate {
  key: string;
  name: string;
  dockerfile: string;
}

export const builtinSandboxTemplate: CatalogTemplate = {
  key: 'standard',
  name: 'Standard',
  dockerfile: `FROM debian:12-slim
RUN apt-get update \\
 && apt-get install -y --no-install-recommends build-essential ca-certificates curl git jq nodejs npm python3 ripgrep \\
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home agent
USER agent
WORKDIR /home/agent/work
`,
};
