// Blocked hosts of a run: the template that decides on them now, and the addition of a host to the template.
import { admit } from '#access/gate.ts';
import type { Caller } from '#access/principal.ts';
import { beyondOneProject, ownOrganization, withinReach } from '#access/reach.ts';
import { type Transaction, transaction } from '#foundation/postgres/database.ts';
import { invalid } from '#foundation/problem.ts';
import { lockOrganization } from '../../organization/organizations/operations.ts';
import { Project } from '../../projects/projects/model.ts';
import { chooseNewTemplate } from '../../projects/projects/operations.ts';
import { templateText } from '../../projects/sandbox-templates/bounds.ts';
import { SandboxTemplate } from '../../projects/sandbox-templates/model.ts';
import { hostProblem, hostRule } from '../../projects/sandbox-templates/names.ts';
import { insertTemplate, patchTemplate, type TemplateRecord } from '../../projects/sandbox-templates/operations.ts';
import { standardTemplate, withHost } from '../../projects/sandbox-templates/settings.ts';
import { Connection, type ConnectionPhase } from '../connections/model.ts';
import { readRun } from '../runs/operations.ts';

/** Default templates of projects; empty for a project-bound credential, which cannot reach templates. */
export const findDefaultTemplates = async (ids: readonly string[], caller: Caller) =>
  caller.projectId === null ? Project.findByKeys('id', ids, { orgId: ownOrganization(caller) }) : [];

export interface BlockedHost {
  host: string;
  port: number;
  phase: ConnectionPhase;
}

/**
 * Adds a host that was blocked in a run to the template whose network policy has blocked it: the template of the step that requested the host, or
 * else the template of the project. If this is the built-in template, the project gets a new template with the host. Changes of the organization's
 * templates by this operation are serialized, so that none is lost and a repeated call changes nothing.
 * @throws 404; 400 for a host that was not blocked, or that no policy can name; 403 for a caller without `projects:write`, if the project has to
 * get a new template; 409 if the policy already has the maximum number of hosts, or the organization already has the maximum number of templates
 */
export function allowHost(caller: Caller, runId: string, blocked: BlockedHost): Promise<TemplateRecord> {
  const orgId = ownOrganization(caller);
  const { host, port, phase } = blocked;
  return transaction(async (trx) => {
    const run = await readRun(trx, caller, runId);
    beyondOneProject(caller);
    const where = { runId: run.id, host, port, phase, verdict: 'blocked' as const, ...withinReach(caller) };
    const asked = await Connection.find(where, trx);
    if (!asked) throw invalid.field('host', 'must be a host that was blocked in the run, with its port and phase');
    const problem = hostProblem(hostRule(host, port));
    if (problem) throw invalid.field('host', problem);
    await lockOrganization(trx, orgId);
    const name = phase === 'setup' ? 'setupNetwork' : 'agentNetwork';
    const ofStep = await SandboxTemplate.lock(trx, { id: asked.templateId, orgId });
    if (ofStep) return add(trx, ofStep);
    const project = (await Project.lock(trx, { id: run.projectId, orgId })) ?? Project.refuse();
    const ofProject =
      project.defaultSandboxTemplateId !== null &&
      (await SandboxTemplate.lock(trx, { id: project.defaultSandboxTemplateId, orgId }));
    if (ofProject) return add(trx, ofProject);
    admit(caller, 'projects:write');
    const policy = withHost(standardTemplate[name], host, port);
    const created = await insertTemplate(trx, orgId, { name: await freeName(trx, project), [name]: policy });
    await chooseNewTemplate(trx, project, created.id);
    return created;

    async function add(within: Transaction, template: SandboxTemplate): Promise<TemplateRecord> {
      const changed = withHost(template[name], host, port);
      if (changed === template[name]) return { ...template, isBuiltin: false };
      return patchTemplate(within, template, { [name]: changed });
    }
  });
}

/** A free name for the new template: the name of the project, followed by a number if another template has that name. */
async function freeName(trx: Transaction, { orgId, name }: Project): Promise<string> {
  const taken = new Set(
    (await SandboxTemplate.query(trx).select('name').where({ orgId })).map((one) => one.name.toLowerCase()),
  );
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : ` ${n}`;
    const free = name.slice(0, templateText.name.max - suffix.length) + suffix;
    if (!taken.has(free.toLowerCase())) return free;
  }
}
