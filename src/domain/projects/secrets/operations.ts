// Operations on secrets and variables: list by name, create, replace, delete. A project-bound credential can reach only the secrets and
// variables of its project.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, reachesProject, withinProject, withinReach } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { newId } from '#foundation/ids.ts';
import { emptyPage, type Page, type PageRequest } from '#foundation/postgres/cursor.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { conflict, invalid, notFound } from '#foundation/problem.ts';
import { seal } from '#foundation/secrets/secrets.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { peopleOf } from '../../organization/people/operations.ts';
import { lockProjectOf } from '../projects/operations.ts';
import { lockTemplateOf } from '../sandbox-templates/operations.ts';
import { standardTemplateId } from '../sandbox-templates/settings.ts';
import { secretCounts, secretValue } from './bounds.ts';
import { Secret, type SecretKind, type SecretScope } from './model.ts';

export interface SecretFilter extends PageRequest {
  scope?: SecretScope | null | undefined;
  projectId?: string | null | undefined;
  templateId?: string | null | undefined;
}

export async function listSecrets(
  caller: Caller,
  { scope, projectId, templateId, ...page }: SecretFilter,
): Promise<Page<Secret>> {
  const where = withinProject(caller, projectId);
  if (!where) return emptyPage;
  const templateIs = templateId == null ? {} : { templateId: templateId as Secret['templateId'] };
  return Secret.page({ ...where, ...templateIs, scope: scope ?? undefined }, page);
}

export const settersOf = (userIds: readonly string[]): Promise<{ id: string; name: string }[]> => peopleOf(userIds);

export const findSecret = (caller: Caller, secretId: string): Promise<Secret> =>
  Secret.get({ id: secretId, ...withinReach(caller) });

export interface NewSecret {
  scope: SecretScope;
  projectId?: string | null | undefined;
  templateId?: string | null | undefined;
  kind: SecretKind;
  name: string;
  value: string;
  hosts?: string[] | undefined;
  setupOnly?: boolean | undefined;
}

/** The sealing purpose, which binds the ciphertext to this secret. */
export const sealContext = (id: string) => `secret:${id}`;

/**
 * Creates a secret or variable. @throws 400 for hosts or `setupOnly` that do not suit the kind, 404 for an unknown project, 409 for a name
 * in use in the scope
 */
export async function createSecret(caller: Caller, input: NewSecret): Promise<Secret> {
  const orgId = ownOrganization(caller);
  const { scope, kind, name, value, hosts = [], setupOnly = false } = input;
  checkDelivery({ kind, hosts, setupOnly }, value);
  return transaction(async (trx) => {
    await lockOrganization(trx, orgId);
    const place = await placeOf(trx, caller, input);
    if (
      (await Secret.query(trx)
        .where({ orgId, ...place })
        .resultSize()) >= secretCounts.perScope
    ) {
      throw conflict(`A scope can have at most ${secretCounts.perScope} secrets and variables.`);
    }
    const [id, at] = [newId('secret'), now()];
    const secret = {
      id,
      orgId,
      ...place,
      kind,
      name,
      hosts,
      setupOnly,
      lastUsedAt: null,
      setByUserId: caller.userId,
      createdAt: at,
      updatedAt: at,
    };
    await Secret.insert(trx, { ...secret, sealedValue: seal(sealContext(id), value) }).catch((error) => {
      if (!isUniqueViolation(error, 'secrets_name')) throw error;
      throw conflict.field('name', `${name} already exists: replace its value, or delete it`);
    });
    return { ...secret, scope };
  });
}

type Place = Pick<Secret, 'projectId' | 'templateId'>;

/** Resolves the project or template that the secret belongs to, and locks it against deletion. */
async function placeOf(trx: Transaction, caller: Caller, { scope, projectId, templateId }: NewSecret): Promise<Place> {
  const orgId = ownOrganization(caller);
  for (const [name, value, owner] of [
    ['projectId', projectId, 'project'],
    ['templateId', templateId, 'template'],
  ] as const) {
    if (scope === owner && value == null) throw invalid.field(name, `is required with the scope ${scope}`);
    if (scope !== owner && value != null) throw invalid.field(name, `belongs to the scope ${owner}, not to ${scope}`);
  }
  if (scope === 'project') {
    if (!reachesProject(caller, projectId!)) throw notFound('project');
    return { projectId: await lockProjectOf(trx, orgId, projectId!), templateId: null };
  }
  beyondOneProject(caller);
  if (scope === 'organization') return { projectId: null, templateId: null };
  if (templateId === standardTemplateId) {
    throw invalid.field('templateId', 'must be a template of the organization: the built-in one has no secrets');
  }
  await lockTemplateOf(trx, orgId, 'templateId', templateId!);
  return { projectId: null, templateId: templateId as Secret['templateId'] };
}

export interface SecretChanges {
  value?: string | undefined;
  hosts?: string[] | undefined;
  setupOnly?: boolean | undefined;
}

/** Changes the value, the hosts or `setupOnly`. The change applies from the next step of each mission. @throws 400, 404 */
export function updateSecret(caller: Caller, secretId: string, changes: SecretChanges): Promise<Secret> {
  const where = { id: secretId, ...withinReach(caller) };
  return transaction(async (trx) => {
    const secret = await Secret.lock(trx, where);
    if (!secret) return Secret.refuse();
    const { value, hosts = secret.hosts, setupOnly = secret.setupOnly } = changes;
    checkDelivery({ kind: secret.kind, hosts, setupOnly }, value);
    const sealed =
      value === undefined ? {} : { sealedValue: seal(sealContext(secretId), value), setByUserId: caller.userId };
    const patch = { hosts, setupOnly, ...sealed, updatedAt: nowAfter(secret.updatedAt) };
    await Secret.patch(trx, { id: secret.id }, patch);
    return (await Secret.find({ id: secret.id }, trx))!;
  });
}

export async function deleteSecret(caller: Caller, secretId: string): Promise<{ ok: true; id: string }> {
  const deleted = await Secret.query()
    .delete()
    .where({ id: secretId, ...withinReach(caller) });
  return deleted ? { ok: true, id: secretId } : Secret.refuse();
}

/** Checks who gets the value of a secret: either the setup or requests to the named hosts, but never an agent, which sees at most a placeholder. */
function checkDelivery({ kind, hosts, setupOnly }: Pick<Secret, 'kind' | 'hosts' | 'setupOnly'>, value?: string): void {
  if (kind === 'variable') {
    if (hosts.length > 0) throw invalid.field('hosts', 'must be empty for a variable, which agents read');
    if (setupOnly) throw invalid.field('setupOnly', 'must be false for a variable, which agents read');
    return;
  }
  if (setupOnly === hosts.length > 0) {
    throw invalid.field('hosts', 'must name the hosts that get the secret, or be empty with setupOnly');
  }
  if (value === undefined) return;
  if (value.length < secretValue.shortestSecret) {
    throw invalid.field(
      'value',
      `must be at least ${secretValue.shortestSecret} characters: it is masked in all output`,
    );
  }
  if (hosts.length > 0 && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw invalid.field(
      'value',
      'must be one line of visible ASCII characters, because it is sent in requests to hosts',
    );
  }
}
