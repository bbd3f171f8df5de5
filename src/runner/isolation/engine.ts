// The container engine: Docker or Podman.
import { inPath } from './programs.ts';

export interface Containers {
  /** Docker or Podman. */
  program: string;
  /** An image with Node.js, git and a shell. */
  image: string;
  /** Network of containers, with services; absent: none. */
  network?: string | undefined;
}

/**
 * Variables of the runner that the engine's program gets: the engine's address. An agent's variables, which refer to its folders, are
 * excluded.
 */
export const engineEnvironment = (): Record<string, string> => {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONFIG', 'DOCKER_CONTEXT', 'CONTAINER_HOST', 'XDG_RUNTIME_DIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
};

/** @throws when no engine is found */
export function containersFrom({ CONTAINER_PROGRAM, CONTAINER_IMAGE, PATH } = process.env): Containers {
  const program = CONTAINER_PROGRAM || inPath('docker', PATH) || inPath('podman', PATH);
  if (!program) throw new Error('there is neither docker nor podman in PATH, and CONTAINER_PROGRAM is not set');
  if (/\s/.test(program)) throw new Error('CONTAINER_PROGRAM: must have no blanks');
  return { program, image: CONTAINER_IMAGE || 'node:22-bookworm' };
}
