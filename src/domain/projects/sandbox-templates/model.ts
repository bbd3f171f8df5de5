// A sandbox template: the environment that agents work in, chosen by a project or an agent.
import { orgWide } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { columnsOf, type Source } from '#foundation/postgres/reads.ts';
import { Organization } from '../../organization/organizations/model.ts';
import type { EffectPolicy } from '../effects/model.ts';
import type { InstanceTypeId } from '../instance-types/model.ts';
import type { NetworkPolicy, Service, TemplateBase, Variable } from './settings.ts';

export class SandboxTemplate extends table('sandbox_templates', {
  id: column<Id<'sandboxTemplate'>>(),
  orgId: column<Id<'organization'>>(),
  /** The name: unique in the organization, ignoring case. */
  name: column<string>(),
  description: column<string | null>(),
  base: column<TemplateBase>(),
  image: column<string | null>(),
  dockerfile: column<string | null>(),
  setupScript: column<string | null>(),
  variables: column<Variable[]>(),
  services: column<Service[]>(),
  setupNetwork: column<NetworkPolicy>(),
  agentNetwork: column<NetworkPolicy>(),
  /** Labels that a runtime must have to execute missions with the template. */
  labels: column<string[]>(),
  instanceType: column<InstanceTypeId | null>(),
  memoryMb: column<number | null>(),
  diskMb: column<number | null>(),
  processes: column<number | null>(),
  stepMinutes: column<number | null>(),
  stepModelCalls: column<number | null>(),
  stepTokens: column<number | null>(),
  maxMinutes: column<number | null>(),
  maxModelCalls: column<number | null>(),
  maxTokens: column<number | null>(),
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy: column<EffectPolicy | null>(),
  createdAt: column<number>(),
  updatedAt: column<number>(),
}) {
  static override noun = 'sandbox template';
  static override jsonAttributes = ['variables', 'services', 'setupNetwork', 'agentNetwork', 'effectPolicy'];
  static visibleTo = orgWide;

  static {
    this.belongsTo('organization', Organization, 'orgId');
  }

  /** Only the organization's own templates are stored; the built-in one is in `settings.ts`. */
  static override source(): Source {
    return {
      select: `select ${columnsOf(this)}, false as is_builtin from sandbox_templates`,
      conditions: [],
      values: [],
    };
  }

  /** Whether this is the built-in template; computed. */
  declare isBuiltin: boolean;
}
