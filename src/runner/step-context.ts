// Types of the runner's capabilities, of the settings of a run and of the context of a step. The modules that prepare the workspace of a
// run use these types, and so do the modules that execute its steps.
import type { Limits, RunLease, Session, Step } from './contract.ts';
import type { Found } from './harness/discovery.ts';
import type { Harness, Listener } from './harness/port.ts';
import type { Caps } from './isolation/caps.ts';
import type { Cgroup } from './isolation/cgroup.ts';
import type { ImageStore } from './isolation/image-store.ts';
import type { Isolation } from './isolation/level.ts';
import type { Place } from './isolation/place.ts';
import type { Services } from './isolation/services.ts';
import type { ConnectionCounter } from './network/connections.ts';
import type { RouteSettings } from './network/dialer.ts';
import type { Meter } from './protocol/meter.ts';
import type { StepModels } from './protocol/models.ts';
import type { Platform } from './protocol/platform.ts';
import type { Questions } from './protocol/questions.ts';
import type { ReplayedCalls } from './protocol/replayed-calls.ts';
import type { OpenShell } from './protocol/terminals.ts';
import type { Upstreams } from './protocol/upstreams.ts';
import type { PromptPart } from './workspace/instructions.ts';
import type { PreparedStore } from './workspace/prepared.ts';
import type { Retention } from './workspace/retention.ts';

/** Isolation, harnesses, models and folders of this runner. */
export interface RunnerCapabilities {
  /** Isolation of scripts. */
  scripts: Isolation;
  /** The caps on scripts, and the caps on agents. */
  caps: { scripts: Caps; agents: Caps };
  /** Bounds of a mission, independent of its instance type. */
  limits: Limits;
  /** Isolation of agents; null means that agents are refused. */
  isolation: Isolation | null;
  /** Available harnesses, to which newly installed ones are added. */
  found: Found[];
  models: Pick<Upstreams, 'anthropic' | 'openai'>;
  /** A folder for mirrors of repositories. */
  mirrors: string;
  /** Routes to hosts that network policies allow. */
  routes: RouteSettings;
  /** A file of further certificate authorities; null means there is none. */
  trust: string | null;
  prepared: PreparedStore;
  images: ImageStore;
  /** Whether attestations are pushed as notes of their commits. */
  hasNotes: boolean;
  setupTimeoutMs: number;
  /** Answers the calls of agents in place of models and tools; absent except in a replay. */
  replayed?: ReplayedCalls | undefined;
  /** Network of the engine in which images are built. */
  buildNetwork: string;
  /** Retention of workspaces; null means that they are removed with their mission. */
  retention: Retention | null;
  /** Ids of runs that wait for a person's answer and do not count as concurrent missions. */
  waiting: Set<string>;
}

/** Receives the output of a setup. The setup ends when `signal` aborts. */
export interface SetupReport {
  log(text: string): void;
  signal: AbortSignal;
}

/** Everything that a step needs to run. */
export interface StepContext {
  place: Place;
  /** Isolation of the step from the machine, for the log. */
  description: string;
  version: string;
  limits: Limits;
  /** Cgroup or container that limits the harness and ends when the mission's folder is removed; null if there is none. */
  enclosure: { watchdogArguments: string; isOverMemory(): Promise<boolean> } | null;
  /** The process that is measured, together with all processes that it starts; null means it cannot be measured from here. */
  processOf(harness: Pick<Harness, 'pid'>): Promise<number | null>;
  /** Models of the step; null for a step without a model. */
  models: StepModels | null;
  /** Counts the model calls of the step; null for a step that makes no model calls. */
  meter: Meter | null;
  /** Questions of the agent to people; null means that it can ask none. */
  questions: Questions | null;
  /** Connections that have not been reported yet. */
  connections: ConnectionCounter;
  /** Services of the mission, whose files count for its disk limit; null without services. */
  services: Pick<Services, 'diskBytes'> | null;
  /** Prepares the environment of the step, or uses one that was prepared before. @returns the reason for a failure; empty on success */
  setUp(report: SetupReport): Promise<string>;
  /** Resolves with the reason when a service of the environment ends; never resolves without services. */
  broken: Promise<string>;
  /** Starts a shell for a person while the harness works. The shell is isolated in the same way as the harness. */
  openShell: OpenShell;
  /** Starts the harness of the step. */
  start(on: Listener): Harness;
  /** Records a session that a later step can continue. */
  remember(session: string): void;
  /** The parts of the prompt, each with its id. */
  prompt: readonly PromptPart[];
  /** Stores the workspace as a checkpoint if it has changed. May be called while the harness still works. */
  save(): Promise<void>;
  /** The replay of the step; null for a step that is not a replay. */
  replay: ReplayedCalls | null;
  /** Ends the recording and the replay of the step. @returns the reason why the recording is incomplete; empty if it is complete */
  endRecording(failure: string): Promise<string>;
  /** Pushes the agent's commits and reports them as work of the session; called once its harness has ended. */
  deliver(session: Session): Promise<void>;
  /** Adds git notes with the platform's attestations to the run's commits. */
  attest(): Promise<void>;
  /** Called when the step has ended. */
  clear(): Promise<void>;
}

/** Settings common to the steps of a run. */
export interface RunSettings {
  platform: Platform;
  capabilities: RunnerCapabilities;
  lease: RunLease;
  orgId: string;
  /** Maximum size of a mission on this machine. */
  limits: Limits;
  graceMs: number;
  /** Interval between reservation attempts of a model call that waits for budget or credits. */
  askAgainMs: number;
}

/** The cgroup of a step; null without cgroups. */
export const openGroup = ({ cgroups }: Caps, { stepId }: Step, limits: Limits): Cgroup | null =>
  cgroups?.(stepId, limits) ?? null;

export const guardByGroup = (group: Cgroup) => ({
  watchdogArguments: `cgroup ${group.folder}`,
  isOverMemory: group.isOverMemory,
});
