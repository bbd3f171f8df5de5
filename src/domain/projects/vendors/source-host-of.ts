// Finds the source host that a project uses, and calls it.
import { toProblem } from '#foundation/problem.ts';
import type { Integration } from '../integrations/model.ts';
import { connectorOf } from '../projects/connectors.ts';
import type { Project } from '../projects/model.ts';
import { addressOf } from './addresses.ts';
import { moduleOf } from './registry.ts';
import { checkPath, checkRef, type Repository, type RepositoryFile, textOf } from './source-host.ts';

interface Host {
  connector: Integration;
  host: Repository;
}

/** The source host of the project, and its connector. @throws 409 when the project has none */
export async function hostOf(project: Project): Promise<Host> {
  const connector = await connectorOf(project, 'scm');
  return { connector, host: moduleOf(connector.vendor).sourceHost! };
}

/** Host name of the source host's server; null when the source host has no accounts of people. */
export const hostNameOf = (connector: Integration): string | null =>
  moduleOf(connector.vendor).sourceHost?.findAccount ? new URL(addressOf(connector)).host : null;

/** The account of a person; null for an unknown login. @throws as `Repository.readFile` */
export const findAccountAt = async (
  connector: Integration,
  login: string,
): Promise<{ id: string; login: string } | null> =>
  (await moduleOf(connector.vendor).sourceHost?.findAccount?.(connector, login)) ?? null;

/** Reason why the person cannot write to the repository; null when they can. @throws retryable Problems */
export async function writeRefusal(project: Project, login: string): Promise<string | null> {
  const repository = `${project.scmOwner}/${project.scmRepo}`;
  try {
    const { host } = await hostOf(project);
    return (await host.mayWrite?.(project, login)) ? null : `${login} has no write access to ${repository}.`;
  } catch (error) {
    const { body } = toProblem(error);
    if (body.retryable) throw error;
    return `The source host does not say whether ${login} may write to ${repository}: ${body.description}`;
  }
}

/** Whether the person may write to the repository; false when the host refuses to answer. @throws retryable Problems */
export const mayWriteTo = async (project: Project, login: string): Promise<boolean> =>
  (await writeRefusal(project, login)) === null;

/**
 * Reads a file; without a ref, from the default branch; null when the file or the ref does not exist. @throws as `Repository.readFile`; 400
 * for an invalid path or ref
 */
export async function readRepositoryFile(project: Project, path: string, ref?: string): Promise<RepositoryFile | null> {
  checkPath(path);
  if (ref !== undefined) checkRef(ref);
  const { connector, host } = await hostOf(project);
  const content = await host.readFile(project, connector, path, ref);
  return content && { path, ref: ref ?? 'HEAD', content: textOf(content) };
}
