// Contexts for the agent steps of a run: steps with the same isolation share a working folder (isolation/place.ts), a gateway and a
// checkout.
import type { Step } from './contract.ts';
import { serviceFailure, setUp } from './environment-setup.ts';
import type { Found } from './harness/discovery.ts';
import { drivers } from './harness/drivers.ts';
import type { Task } from './harness/port.ts';
import { isolate } from './isolated-step.ts';
import { ports, socketsOf } from './isolation/cell.ts';
import { hasEgress } from './isolation/level.ts';
import { type ForkedStep, fetchForkedStep } from './protocol/forked-recording.ts';
import { type Gateway, openGateway } from './protocol/gateway.ts';
import { openMeter } from './protocol/meter.ts';
import { openModels } from './protocol/models.ts';
import { peopleServer } from './protocol/people-server.ts';
import type { McpCommand } from './protocol/platform.ts';
import { openQuestions, type Questions } from './protocol/questions.ts';
import { openRecorder, type Recorder } from './protocol/recorder.ts';
import { openReplayedCalls, type ReplayedCalls } from './protocol/replayed-calls.ts';
import { keysOf, type McpServer, type Upstreams } from './protocol/upstreams.ts';
import { recordStep } from './recorded-step.ts';
import { type RunPlace, type RunPlaces, variablesOf } from './run-place.ts';
import type { RunnerCapabilities, RunSettings, StepContext } from './step-context.ts';
import { openStepServers } from './step-servers.ts';
import { shellIn } from './step-shell.ts';
import { openCheckpoints } from './workspace/checkpoint-upload.ts';
import { systemParts, systemPrompt, turnParts } from './workspace/instructions.ts';
import { installSkills, type Skills } from './workspace/skills.ts';

interface Shared {
  gateway: Gateway;
  /** Sessions whose files are in the working folder. */
  sessions: Set<string>;
}

export function openAgentContexts(settings: RunSettings, places: RunPlaces) {
  const { platform, capabilities, lease } = settings;
  const upstreams: Upstreams = { ...capabilities.models, mcp: {} };
  const models = openModels(platform, lease, upstreams, capabilities.models);
  const upload = openCheckpoints(platform, lease, capabilities.mirrors);
  const { questions, meter, recorder, replaying } = openCalls(settings);
  const share = openShared(settings, places, upstreams, { questions, meter, recorder, replaying });
  let session: string | null = null;

  async function prepare(step: Step, maxCalls: number): Promise<StepContext> {
    const { harness, skillRepos, userPrompt, isReadOnly } = step.agent;
    const found = findHarness(capabilities, harness);
    const asked = askEarly(settings, models);
    const { runPlace, replay } = await openPlace(settings, places, replaying, step);
    const { place, account, checkout, limits, connections, services } = runPlace;
    const { gateway, sessions } = await share(runPlace);
    const skills = await installSkills(platform, lease, skillRepos, place, account);
    const isolated = isolate(runPlace, step, settings.graceMs);
    const { launch, enclosure, processOf } = isolated.open(harness === 'opencode', isReadOnly);
    // A session whose files cannot be restored is not resumed.
    const resume = step.resumeSessionId && sessions.has(step.resumeSessionId) ? step.resumeSessionId : null;
    const turn = turnParts(step, resume !== null);
    session = resume;
    const [mcpServers, commands, stepModels] = await asked;
    const { add, ...connected } = connectServers(settings, upstreams, gateway, questions, mcpServers, commands);
    const save = () => upload(step, isolated.runScript, place, checkout.base, () => session);
    const servers = openStepServers(settings, step, runPlace, isolated, questions);
    const begun = { step, runPlace, found, mcp: connected.mcp, replay };
    const task: Task = {
      ...{ ...launch, ...requestOf(step, maxCalls), ...connected },
      env: { ...launch.env, ...variablesOf(runPlace), ARTIFACTS: place.artifacts, RUN_ID: lease.runId },
      ...{ program: found.program, command: found.command, metered: meter.follow, home: place.home },
      prompt: turn.map(({ text }) => text).join('\n\n'),
      instructions: systemPrompt(found.harness, userPrompt, checkout.instructions, skills.text),
      resume,
    };
    return {
      place,
      description: describe(runPlace, skills),
      prompt: [...systemParts(userPrompt, checkout.instructions, skills.text), ...turn],
      version: found.version,
      ...{ limits, enclosure, processOf, connections, services, meter, questions, models: stepModels },
      setUp: async (report) =>
        (await setUp(settings, runPlace, isolated, report)) || servers.start(commands, report, add),
      ...{ broken: serviceFailure(runPlace), openShell: shellIn(runPlace, isolated, lease, isReadOnly) },
      start: (on) => servers.endServersWith(drivers[found.harness](task, on)),
      remember: (begun) => {
        sessions.add(begun);
        session = begun;
      },
      // Files that a read-only agent leaves in the checkout are discarded with the mission.
      ...recordStep(settings, recorder, begun, isReadOnly ? null : save),
      ...{ deliver: isReadOnly ? async () => {} : checkout.deliver, attest: checkout.attest },
      clear: () => servers.end().then(isolated.close),
    };
  }

  return { prepare };
}

/**
 * Responses of the platform that are requested while the repository is checked out. A failed request throws when its response is
 * awaited.
 */
function askEarly({ platform, lease }: RunSettings, models: ReturnType<typeof openModels>) {
  const asked = Promise.all([platform.mcpServers(lease), platform.mcpCommands(lease), models.begin()]);
  asked.catch(() => {});
  return asked;
}

function findHarness({ found }: RunnerCapabilities, harness: string): Found {
  const one = found.find((program) => program.harness === harness);
  if (!one) throw new Error(`This runner does not offer the harness ${harness}.`);
  return one;
}

const describe = ({ isolation, caps, checkout }: RunPlace, skills: Skills): string =>
  `${isolation.description} ${caps.description}\n${checkout.description}\n${skills.description}`.trim();

/** Opens the objects that all calls through the gateway share: the meter, the questions to people, the recorder and the replay. */
function openCalls({ platform, capabilities, lease, askAgainMs }: RunSettings) {
  const questions = openQuestions(lease.runId, capabilities.waiting);
  const meter = openMeter(platform, lease, askAgainMs, questions.modelCallParked);
  const recorder = openRecorder(platform, lease, capabilities.mirrors);
  const replaying = openReplaying(capabilities);
  return { questions, meter, recorder, replaying };
}

/**
 * The working folder and isolation of the step. In a replay, the checkout begins at the recorded commit, and calls are answered from
 * the recording.
 */
async function openPlace(
  { platform, capabilities }: RunSettings,
  places: RunPlaces,
  replaying: ReturnType<typeof openReplaying>,
  step: Step,
): Promise<{ runPlace: RunPlace; replay: ReplayedCalls | null }> {
  const forked =
    step.replay && (await fetchForkedStep(platform, { ...step, replay: step.replay }, capabilities.mirrors));
  return { runPlace: await places.of(step, forked?.startSha), replay: replaying.open(forked) };
}

/** The replay of the present step: by the runner's command `replay`, or as a step of a fork. */
function openReplaying({ replayed }: RunnerCapabilities) {
  let present: ReplayedCalls | null = replayed ?? null;
  return {
    present: () => present,
    open(forked: ForkedStep | null): ReplayedCalls | null {
      if (!replayed) present = forked ? openReplayedCalls({ steps: [forked.part] }, forked.before) : null;
      return present;
    },
  };
}

/** Calls of a replay are recorded, too: a fork can be forked. */
const observing = ({ recorder, replaying }: ReturnType<typeof openCalls>): Pick<Recorder, 'observe'> => ({
  observe(request, response) {
    recorder.observe(request, response);
    return replaying.present()?.observe(request, response) ?? false;
  },
});

/** Returns the function from which each agent step gets the gateway of the run. The first step opens the gateway. */
function openShared(
  { platform, capabilities }: RunSettings,
  places: RunPlaces,
  upstreams: Upstreams,
  calls: ReturnType<typeof openCalls>,
) {
  let shared: Shared | undefined;
  return async ({ isolation, place, checkout }: RunPlace): Promise<Shared> => {
    if (shared) return shared;
    const socket = hasEgress(isolation.level) ? socketsOf(place).gateway : null;
    const gateway = await openGateway(upstreams, socket, calls.meter, calls.questions.modelCalled, observing(calls));
    platform.conceal([gateway.key, ...keysOf(capabilities.models)]);
    places.beforeClosing(gateway.close);
    shared = { gateway, sessions: new Set(checkout.sessions) };
    return shared;
  };
}

/** The gateway's URL for the agent, and the MCP servers behind it. */
function connectServers(
  { platform, lease }: RunSettings,
  upstreams: Upstreams,
  { key, port }: Gateway,
  questions: Questions,
  servers: Awaited<ReturnType<RunSettings['platform']['mcpServers']>>,
  commands: readonly McpCommand[],
): Pick<Task, 'gateway' | 'mcp'> & { add(name: string, server: McpServer): void } {
  const url = `http://127.0.0.1:${port || ports.gateway}`;
  const headers = { authorization: platform.authorization, 'x-lease-id': lease.leaseId };
  const isNeeded = async (server: string, tool: string): Promise<boolean> => {
    const current = (await platform.mcpServers(lease)).find(({ serverName }) => serverName === server);
    return current?.alwaysAsk.includes(tool) ?? false;
  };
  upstreams.mcp = {};
  const mcp: Task['mcp'] = {};
  const add = (name: string, server: McpServer) => {
    upstreams.mcp[name] = server;
    mcp[name] = `${url}/mcp/${name}`;
  };
  for (const { serverName: server, url: base } of servers) {
    const approval = { questions, server, isNeeded: (tool: string) => isNeeded(server, tool), mask: platform.mask };
    add(server, { base, headers, approval });
  }
  // The server for questions to people is renamed if a server of the project has the same name.
  const isTaken = [...servers, ...commands].some(({ serverName }) => serverName === 'people');
  add(isTaken ? 'people-of-the-mission' : 'people', { own: peopleServer(questions) });
  return { gateway: { url, key }, mcp, add };
}

type Request = Pick<Task, 'model' | 'effort' | 'schema' | 'readOnly' | 'maxCalls' | 'maxTokens'>;

const requestOf = ({ agent, environment, outputSchema }: Step, maxCalls: number): Request => ({
  model: agent.model,
  effort: agent.effort?.toLowerCase() ?? null,
  schema: outputSchema === null ? null : JSON.parse(outputSchema),
  readOnly: agent.isReadOnly,
  maxCalls: environment.stepModelCalls ?? maxCalls,
  maxTokens: environment.stepTokens,
});
