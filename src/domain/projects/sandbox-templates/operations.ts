// Operations on sandbox templates: list, read, create, update, delete. The built-in template exists in every organization and cannot be changed.
// Templates belong to the whole organization, so a project-bound credential cannot reach them.
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, wholeOrganization } from '#access/reach.ts';
import { now, nowAfter } from '#foundation/clock.ts';
import { type Id, newId } from '#foundation/ids.ts';
import { type Page, type PageRequest, readPageOf } from '#foundation/postgres/cursor.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { isUniqueViolation } from '#foundation/postgres/database-errors.ts';
import { builtinRows, withBuiltinsSql } from '#foundation/postgres/reads.ts';
import { conflict, invalid, refuseChanged } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { templateCounts } from './bounds.ts';
import { refuseBeyondBounds } from './mission-limits.ts';
import { SandboxTemplate } from './model.ts';
import { standardTemplate, standardTemplateId, type TemplateSettings } from './settings.ts';

export type TemplateRecord = SandboxTemplate;

/** Creation time of the built-in template: earlier than that of any other template, so that it comes last in a list. */
const builtinSince = Date.UTC(2026, 0, 1);

const standardOf = (orgId: Id<'organization'>): TemplateRecord =>
  ({
    ...standardTemplate,
    id: standardTemplateId,
    orgId,
    description: null,
    createdAt: builtinSince,
    updatedAt: builtinSince,
    isBuiltin: true,
  }) as unknown as TemplateRecord;

const selectTemplatesSql = withBuiltinsSql(SandboxTemplate);

/** The organization's own templates, newest first, then the built-in template. */
export async function listSandboxTemplates(caller: Caller, page: PageRequest): Promise<Page<TemplateRecord>> {
  const orgId = wholeOrganization(caller);
  const values = [orgId, builtinRows(SandboxTemplate, [standardOf(orgId)])];
  const binding = JSON.stringify(['sandbox_templates', orgId]);
  return readPageOf<TemplateRecord>({ binding, select: selectTemplatesSql, where: '', values }, page);
}

export async function findTemplate(caller: Caller, templateId: string): Promise<TemplateRecord> {
  const orgId = wholeOrganization(caller);
  return templateId === standardTemplateId ? standardOf(orgId) : SandboxTemplate.get({ id: templateId, orgId });
}

/** Reads the existing templates among these ids; empty for a project-bound credential. */
export async function findTemplates(caller: Caller, ids: readonly string[]): Promise<TemplateRecord[]> {
  if (caller.projectId !== null) return [];
  const orgId = ownOrganization(caller);
  const builtin = ids.includes(standardTemplateId) ? [standardOf(orgId)] : [];
  return [...builtin, ...(await SandboxTemplate.findByKeys('id', ids, { orgId }))];
}

/** Absent fields keep their value; in a new template they default to the values of the built-in template. */
export type TemplateChanges = { [K in keyof TemplateSettings]?: TemplateSettings[K] | undefined } & {
  description?: string | null | undefined;
};

const withoutUndefined = (changes: TemplateChanges) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<SandboxTemplate>;

/**
 * Creates a template.
 * @throws 400 for an image or a Dockerfile that does not belong to the base; 409 when the name is in use, or when the organization has the maximum
 * number of templates
 */
export async function createTemplate(
  caller: Caller,
  input: TemplateChanges & { name: string },
): Promise<TemplateRecord> {
  const orgId = wholeOrganization(caller);
  return transaction((trx) => insertTemplate(trx, orgId, input));
}

export async function insertTemplate(
  trx: Transaction,
  orgId: Id<'organization'>,
  input: TemplateChanges & { name: string },
): Promise<TemplateRecord> {
  await lockOrganization(trx, orgId);
  const others = await SandboxTemplate.query(trx).where({ orgId }).resultSize();
  if (others >= templateCounts.templates) {
    throw conflict(`An organization can have at most ${templateCounts.templates} sandbox templates.`);
  }
  const at = now();
  const described = { ...standardTemplate, dockerfile: null, description: null, ...withoutUndefined(input) };
  const template = { ...described, id: newId('sandboxTemplate'), orgId, createdAt: at, updatedAt: at };
  checkSource(template);
  refuseBeyondBounds(input);
  await SandboxTemplate.insert(trx, template).catch((error) => nameTaken(error, input.name));
  return { ...template, isBuiltin: false };
}

/** Changes a template. @throws the errors of `createTemplate`; 404 for an unknown template; 409 for the built-in template */
export async function updateTemplate(
  caller: Caller,
  templateId: string,
  changes: TemplateChanges,
  ifUpdatedAt?: number | null,
): Promise<TemplateRecord> {
  return withLocked(caller, templateId, (trx, template) => {
    refuseChanged(template, ifUpdatedAt);
    return patchTemplate(trx, template, changes);
  });
}

/**
 * Runs a change while the template is locked. Concurrent choices of the template wait for the lock in `lockTemplateOf`. @throws 404; 409
 * for the built-in template
 */
function withLocked<T>(
  caller: Caller,
  templateId: string,
  change: (trx: Transaction, template: SandboxTemplate) => Promise<T>,
): Promise<T> {
  beyondOneProject(caller);
  refuseBuiltin(templateId);
  const orgId = ownOrganization(caller);
  return transaction(async (trx) =>
    change(trx, (await SandboxTemplate.lock(trx, { id: templateId, orgId })) ?? SandboxTemplate.refuse()),
  );
}

/** Changes the template, which the caller has locked. */
export async function patchTemplate(
  trx: Transaction,
  template: SandboxTemplate,
  changes: TemplateChanges,
): Promise<TemplateRecord> {
  const patch = withoutUndefined(changes);
  if (patch.base !== undefined) {
    // An image or Dockerfile that belongs to the previous base is removed.
    if (patch.base !== 'image') patch.image ??= null;
    if (patch.base !== 'dockerfile') patch.dockerfile ??= null;
  }
  const changed = { ...patch, updatedAt: nowAfter(template.updatedAt) };
  checkSource({ ...template, ...changed });
  refuseBeyondBounds(changes);
  const updated = await SandboxTemplate.query(trx)
    .patchAndFetchById(template.id, changed)
    .catch((error) => nameTaken(error, changes.name!));
  return { ...updated, isBuiltin: false };
}

/** A project or agent that uses a template. */
export interface TemplateUse {
  templateId: string;
  id: string;
  name: string;
}

/** Text that names the projects, agents and missions that use a template. */
export type FindUses = (trx: Transaction, orgId: Id<'organization'>, templateId: string) => Promise<string[]>;

/** Deletes a template with its variables and secrets. @throws 404; 409 for the built-in template, and for a template that is used */
export async function deleteTemplate(
  caller: Caller,
  templateId: string,
  findUses: FindUses,
): Promise<{ ok: true; id: string }> {
  return withLocked(caller, templateId, async (trx, { orgId }) => {
    const uses = await findUses(trx, orgId, templateId);
    if (uses.length > 0) {
      const places = [...uses.slice(0, 5), ...(uses.length > 5 ? ['others'] : [])].join(', ');
      throw conflict(`The sandbox template is used by ${places}: choose another one there first.`);
    }
    await SandboxTemplate.query(trx).deleteById(templateId);
    return { ok: true, id: templateId };
  });
}

/** Prevents the deletion of a chosen template until the transaction ends. @throws 400 for an unknown template */
export async function lockTemplateOf(
  trx: Transaction,
  orgId: Id<'organization'>,
  field: string,
  templateId: string,
): Promise<void> {
  if (templateId === standardTemplateId) return;
  const found = await SandboxTemplate.query(trx).select('id').findOne({ id: templateId, orgId }).forKeyShare();
  if (found) return;
  throw invalid.field(field, `must be ${standardTemplateId} or the id of a sandbox template of the organization`);
}

/** Returns the first id that belongs to a template of the organization; undefined means that the built-in template applies. */
export async function firstOwnTemplate(
  trx: Transaction,
  orgId: Id<'organization'>,
  ids: readonly (string | null)[],
): Promise<SandboxTemplate | undefined> {
  const wanted = ids.filter(isOwnTemplate);
  if (wanted.length === 0) return undefined;
  const found = await SandboxTemplate.query(trx).whereIn('id', wanted).where({ orgId });
  return wanted.map((id) => found.find((one) => one.id === id)).find((one) => one !== undefined);
}

/** Whether the id names a template other than the built-in one. */
export const isOwnTemplate = (id: string | null): id is string => id !== null && id !== standardTemplateId;

/** The effect policies of these templates of the organization. */
export const policiesOfTemplates = async (
  orgId: Id<'organization'>,
  ids: readonly string[],
  trx?: Transaction,
): Promise<TemplateRecord['effectPolicy'][]> =>
  ids.length === 0
    ? []
    : (await SandboxTemplate.findByKeys('id', ids, { orgId }, trx)).map(({ effectPolicy }) => effectPolicy);

function checkSource({ base, image, dockerfile }: Pick<TemplateSettings, 'base' | 'image' | 'dockerfile'>): void {
  for (const [name, value] of [
    ['image', image],
    ['dockerfile', dockerfile],
  ] as const) {
    if (base === name && value === null) throw invalid.field(name, `is required with the base ${base}`);
    if (base !== name && value !== null) throw invalid.field(name, `belongs to the base ${name}, not to ${base}`);
  }
}

function refuseBuiltin(templateId: string): void {
  if (templateId !== standardTemplateId) return;
  throw conflict('The built-in template cannot be changed: create one of your own instead.');
}

function nameTaken(error: unknown, name: string): never {
  if (!isUniqueViolation(error, 'sandbox_templates_name')) throw error;
  throw conflict.field('name', `another sandbox template already has the name ${JSON.stringify(name)}`);
}
