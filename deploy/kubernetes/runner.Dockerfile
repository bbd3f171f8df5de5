# The image of a runner for a cluster, which is also that of the runners in its pods:
# docker build -f deploy/kubernetes/runner.Dockerfile -t registry.example.com/agent-runner:0.2.0 .
# An image with Node.js 20.19 or newer, npm, and git, with which runners read repositories.
ARG BASE=node:22-bookworm
FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM ${BASE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist/runner dist/runner
# Harnesses: add one, such as `RUN npm install --global opencode-ai@VERSION`, of a release in docs/harnesses.md.
USER 10001:10001
ENTRYPOINT ["node", "dist/runner/runner.js"]
