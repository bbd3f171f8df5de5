// The statement about a commit of a mission (in-toto Statement v1): how the commit came to be, as the platform has seen it. Everything is
// read from records of the platform and the runtime; only the commit itself comes from the agent.
import { hash } from 'node:crypto';
import { isoTime } from '#foundation/clock.ts';
import { addresses } from '#foundation/http/addresses.ts';
import { leafHash, openGrowingTree } from '#foundation/merkle/tree.ts';
import type { Transaction } from '#foundation/postgres/database.ts';
import { ChangeReview } from '../../execution/reviews/model.ts';
import { OutsideEffect } from '../../projects/effects/model.ts';
import { Project } from '../../projects/projects/model.ts';
import type { Attestation } from '../../work/attestations/model.ts';
import { commitsPerRun } from '../../work/attestations/record.ts';
import { RunFork } from '../../work/forks/model.ts';
import { Preparation } from '../../work/preparations/model.ts';
import type { CallKind } from '../../work/run-calls/model.ts';
import { callsPerRun, readCallsOf } from '../../work/run-calls/record.ts';
import { RunMessage } from '../../work/runs/message-model.ts';
import type { Run } from '../../work/runs/model.ts';
import type { RunStep } from '../../work/runs/step-model.ts';
import { stepsOf } from '../../work/runs/steps.ts';
import { Sandbox } from '../../work/sandboxes/model.ts';

export const payloadType = 'application/vnd.in-toto+json';
/** The predicate type. Its version increases when the content of statements changes. */
export const predicateType = 'urn:agent-engineering-platform:mission-commit:v1';

const sha256 = (text: string) => ({ sha256: hash('sha256', text) });
const timeOf = (at: number | null) => at && isoTime(at);

/** The statements about the commits of a locked run. */
export async function openStatements(trx: Transaction, run: Run, commits: readonly Attestation[]) {
  const steps = await stepsOf(trx, run.id);
  const about = await readPredicate(trx, run, steps, commits);
  return (commit: Attestation, signedAt: number) => ({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'commit', digest: { gitCommit: commit.sha } },
      { name: 'tree', digest: { gitTree: commit.treeSha } },
    ],
    predicateType,
    predicate: {
      ...about,
      commit: {
        step: commit.stepId,
        position: commit.position,
        reportedAt: timeOf(commit.createdAt),
        reporter: commit.reporterId,
      },
      signedAt: timeOf(signedAt),
    },
  });
}

async function readPredicate(trx: Transaction, run: Run, steps: readonly RunStep[], commits: readonly Attestation[]) {
  const project = (await Project.find({ id: run.projectId }, trx))!;
  const messages = await RunMessage.findAll({ runId: run.id }, trx);
  const preparations = await Preparation.findAll({ runId: run.id }, trx);
  return {
    platform: addresses().issuer,
    run: {
      id: run.id,
      organization: run.orgId,
      project: run.projectId,
      repository: `${project.scmOwner}/${project.scmRepo}`,
      branch: run.branch,
      issue: run.issueId,
      continuesStep: run.continuesStepId,
      ...(await readFork(trx, run)),
    },
    base: { branch: run.baseBranch, gitCommit: run.baseSha },
    steps: await readSteps(trx, steps),
    environments: preparations.map(({ templateId, key, commit }) => ({ template: templateId, key, gitCommit: commit })),
    messages: messages.flatMap(({ id, kind, text, authorUserId, createdAt }) =>
      text === '' ? [] : [{ id, kind, by: authorUserId, at: timeOf(createdAt), text: sha256(text) }],
    ),
    commits: { isComplete: (commits.at(-1)?.position ?? 0) < commitsPerRun },
    calls: await countCalls(trx, run),
    approvals: [...approvalsOf(messages), ...(await effectDecisions(trx, run))],
    reviews: [...agentReviews(steps, commits), ...(await peopleReviews(trx, run, commits))],
    cost: { usd: run.missionCostUsd, isComplete: !run.missionCostIncomplete },
  };
}

/** For a fork: the recording that answered the first calls, up to the call at which the fork begins. */
async function readFork(trx: Transaction, { id: runId, orgId }: Run) {
  const fork = await RunFork.find({ orgId, runId }, trx);
  if (!fork) return {};
  const { sourceRunId, sourceStepId, call, calls } = fork;
  return { forkedFrom: { run: sourceRunId, step: sourceStepId, call, replayedCalls: calls } };
}

async function readSteps(trx: Transaction, steps: readonly RunStep[]) {
  const ids = steps.flatMap(({ sandboxId }) => sandboxId ?? []);
  const sandboxes = new Map((await Sandbox.findByKeys('id', ids, {}, trx)).map((one) => [one.id, one]));
  return steps.map(({ id, role, round, agent, harness, model, prompt, sandboxId, ...step }) => ({
    id,
    role,
    round,
    agent: { id: agent.agentId, name: agent.name, version: agent.version ?? null },
    harness: { name: harness, release: (sandboxId && sandboxes.get(sandboxId)?.harnessVersion) ?? null },
    model,
    template: agent.sandboxTemplateId,
    prompt: sha256(prompt),
    instructions: agent.userPrompt ? sha256(agent.userPrompt) : null,
    tokens: {
      input: step.inputTokens,
      cachedInput: step.cachedInputTokens,
      cacheWrite: step.cacheWriteTokens,
      output: step.outputTokens,
    },
    costUsd: step.costUsd,
  }));
}

/** The Merkle tree (RFC 6962) of all calls of the run so far. */
async function countCalls(trx: Transaction, run: Run) {
  const calls = await readCallsOf(trx, run);
  const tree = openGrowingTree();
  for (const { entry } of calls) tree.add(leafHash(entry));
  const count = (kind: CallKind) => calls.filter((call) => call.kind === kind).length;
  return {
    tree: 'rfc6962-sha256',
    size: calls.length,
    rootHash: tree.root().toString('hex'),
    ...{ model: count('model'), tool: count('tool'), network: count('network') },
    isComplete: calls.length < callsPerRun,
  };
}

/** The plan and the tool calls about which a person has decided. */
const approvalsOf = (messages: readonly RunMessage[]) =>
  messages.flatMap(({ id, kind, approved, authorUserId, createdAt }) => {
    const isPlan = kind === 'approval';
    if (!isPlan && approved === null) return [];
    return [
      {
        ...{ of: isPlan ? 'plan' : 'tool_call', id, isApproved: isPlan || approved },
        ...{ by: authorUserId, at: timeOf(createdAt) },
      },
    ];
  });

async function effectDecisions(trx: Transaction, { id: runId }: Run) {
  const effects = await OutsideEffect.findAll({ runId }, trx);
  return effects.flatMap(({ id, kind, state, digest, decidedByUserId, decidedAt }) =>
    decidedAt === null
      ? []
      : [{ of: kind, id, isApproved: state !== 'rejected', by: decidedByUserId, at: timeOf(decidedAt), digest }],
  );
}

/** The reviews of reviewer agents. A review applies to the newest commit that was reported before the review's step ended. */
const agentReviews = (steps: readonly RunStep[], commits: readonly Attestation[]) =>
  steps.flatMap(({ id, role, output, finishedAt }) => {
    if (role !== 'reviewer' || !output || finishedAt === null) return [];
    const reviewed = commits.filter(({ createdAt }) => createdAt <= finishedAt).at(-1);
    const { verdict } = JSON.parse(output) as { verdict: string };
    return [
      {
        ...{ by: null, step: id, verdict, gitCommit: reviewed?.sha ?? null },
        ...{ at: timeOf(finishedAt), text: sha256(output) },
      },
    ];
  });

async function peopleReviews(trx: Transaction, { projectId }: Run, commits: readonly Attestation[]) {
  const shas = commits.map(({ sha }) => sha);
  const reviews = await ChangeReview.findByKeys('headSha', shas, { projectId }, trx);
  return reviews.map(({ id, verdict, headSha, authorUserId, body, createdAt }) => ({
    ...{ by: authorUserId, id, verdict, gitCommit: headSha, at: timeOf(createdAt), text: sha256(body) },
  }));
}
