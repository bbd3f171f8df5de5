// The built-in sandbox template as the catalog of agents lists it; its Dockerfile is the one in deploy/images/standard.

export interface CatalogTemplate {
  key: string;
  name: string;
  dockerfile: string;
}

export const builtinSandboxTemplate: CatalogTemplate = {
  key: 'standard',
  name: 'Standard',
  dockerfile: `FROM node:22-bookworm-slim
RUN apt-get update \\
 && apt-get install -y --no-install-recommends build-essential ca-certificates curl git jq python3 python3-pip python3-venv ripgrep \\
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home agent
USER agent
WORKDIR /home/agent/work
`,
};
