// A project combines an issue tracker, a source repository and a language-model connector (docs/contract.md#projects).
import type { Caller } from '#access/principal.ts';
import { ownOrganization } from '#access/reach.ts';
import type { Id } from '#foundation/ids.ts';
import { column, table } from '#foundation/postgres/base-model.ts';
import { Organization } from '../../organization/organizations/model.ts';
import type { EffectPolicy } from '../effects/model.ts';
import { Integration, type ProjectKind, type VendorOf } from '../integrations/model.ts';

export const projectStatuses = ['active', 'paused', 'archived'] as const;
export type ProjectStatus = (typeof projectStatuses)[number];
export type ProjectTracker = VendorOf<'tracker'>;

/** Limits within which feedback on a pull request continues its mission. */
export interface PullRequestLoop {
  /** Maximum number of continuations; 0 means none. */
  rounds: number;
  /** Maximum hours since the start of the first mission of the pull request. */
  hours: number;
  /** Maximum cost of all missions of the pull request in US dollars; null means no limit. */
  costUsd: number | null;
}
export const defaultLoop: PullRequestLoop = { rounds: 5, hours: 168, costUsd: null };
/** Allowed values of the limits within which feedback on a pull request continues its mission. */
export const loopBounds = {
  rounds: { min: 0, max: 50 },
  hours: { min: 1, max: 2_160 },
  costUsd: { min: 0.01, max: 10_000 },
} as const;

/** SQL expression: the default sandbox template of the project. */
export const templateOfProject = (projectId: string): string =>
  `(select p.default_sandbox_template_id from projects p where p.id = ${projectId})`;

export class Project extends table('projects', {
  id: column<Id<'project'>>(),
  orgId: column<Id<'organization'>>(),
  /** The slug, derived from the original name of the project and unique in the organization; a rename does not change it. */
  slug: column<string>(),
  name: column<string>(),
  status: column<ProjectStatus>(),
  tracker: column<ProjectTracker>(),
  trackerConnectorId: column<Id<'integration'> | null>(),
  /** The team at the tracker: at first the key that a person has entered, later the id that the tracker has given the team. */
  trackerTeamId: column<string | null>(),
  /** Project at the tracker; not used yet, always null. */
  trackerProjectId: column<string | null>(),
  scmConnectorId: column<Id<'integration'> | null>(),
  scmOwner: column<string>(),
  scmRepo: column<string>(),
  /** The source host and its id of the repository, which do not change with a rename; null until a runtime has opened the repository. */
  scmRepositoryKey: column<string | null>(),
  llmConnectorId: column<Id<'integration'> | null>(),
  /** Whether an approved change merges without a person; sent to the runtime with each run. */
  autoMerge: column<boolean>(),
  /** The prefix of issue keys, such as `WEB` in WEB-12. */
  issueCode: column<string | null>(),
  /** The sandbox template of agents that have not chosen a template; null means the built-in template. */
  defaultSandboxTemplateId: column<string | null>(),
  /**
   * Whether builders work with a planner, a reviewer and QA; null means that they work with the organization's own agents of these
   * roles.
   */
  hasTeam: column<boolean | null>(),
  /** Limits within which feedback on a pull request continues its mission; null means the defaults. */
  pullRequestLoop: column<PullRequestLoop | null>(),
  /** Policy that decides which outside effects wait for approval; null means that none waits. */
  effectPolicy: column<EffectPolicy | null>(),
  createdAt: column<number>(),
}) {
  static override noun = 'project';
  static override jsonAttributes = ['pullRequestLoop', 'effectPolicy'];

  /**
   * Project records stay readable across the organization, including to a project-bound credential
   * (docs/contract.md#project-bound-credentials).
   */
  static visibleTo = (caller: Caller) => ({ orgId: ownOrganization(caller) });

  static {
    this.belongsTo('organization', Organization, 'orgId');
    this.belongsTo('trackerConnector', Integration, 'trackerConnectorId');
    this.belongsTo('scmConnector', Integration, 'scmConnectorId');
    this.belongsTo('llmConnector', Integration, 'llmConnectorId');
  }
}

/** Field of a project that holds its connector, by kind of connector. */
export const connectorMembers = {
  tracker: 'trackerConnectorId',
  scm: 'scmConnectorId',
  llm: 'llmConnectorId',
} as const satisfies Record<ProjectKind, keyof Project>;

/** The kinds of connector that the project lacks. The built-in tracker needs none. */
export const missingConnectorKinds = (project: Project): ProjectKind[] =>
  (Object.keys(connectorMembers) as ProjectKind[]).filter(
    (kind) => project[connectorMembers[kind]] === null && !(kind === 'tracker' && project.tracker === 'builtin'),
  );
