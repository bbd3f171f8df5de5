// The steps of a run: who worked on it, in which part, what they handed over, and what it cost.
import { useState } from 'preact/hooks';
import { ask, type ProblemBody, problemOf } from './client.ts';
import { continueRun, type RunStepFragment } from './documents.ts';
import { pageAt } from './page.ts';
import { Card, Meter, Pill, Trouble } from './pieces.tsx';
import { dollars, Lasted, Time } from './words.tsx';

/** What the roles hand over. */
interface Output {
  steps?: string[];
  verdict?: 'approve' | 'request_changes';
  comments?: { path?: string | null; line?: number | null; body: string }[];
  passed?: boolean;
  findings?: string[];
}

const count = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

interface Properties {
  runId: string;
  steps: readonly RunStepFragment[];
  /** Whether the person may continue the run from a step now. */
  canContinue: boolean;
}

export function Steps({ runId, steps, canContinue }: Properties) {
  const inOrder = [...steps].reverse();
  const total = steps.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return (
    <Card title="Steps">
      <ol class="steps">
        {inOrder.map((step) => (
          <li key={step.id}>
            <div class="step-head">
              <strong>{step.role === 'qa' ? 'QA' : step.role}</strong>
              {step.round > 1 && <span class="muted small">round {step.round}</span>}
              <Pill status={step.status} />
              <span class="muted small figures-inline">
                {dollars(step.costUsd)} · <Lasted from={step.startedAt} to={step.finishedAt} />
              </span>
            </div>
            <div class="muted small">
              {step.agentName}, {step.harness}
              {step.harness !== 'shell' && ` with ${step.model}`}
              {step.outputTokens > 0 &&
                `, ${count.format(step.inputTokens + step.cachedInputTokens + step.cacheWriteTokens)} tokens in, ${count.format(step.outputTokens)} out`}
            </div>
            {total > 0 && (
              <Meter
                value={(step.costUsd / total) * 100}
                label={`Share of the ${step.role} in the cost${step.round > 1 ? `, round ${step.round}` : ''}`}
              />
            )}
            {step.error && <p class="small">{step.error}</p>}
            {step.output !== null && <HandedOver output={step.output as Output} />}
            {canContinue && step.checkpoint && <Continue runId={runId} step={step} at={step.checkpoint.createdAt} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function HandedOver({ output: { steps, verdict, comments = [], passed, findings = [] } }: { output: Output }) {
  return (
    <>
      {steps && (
        <ol class="handed-over">
          {steps.map((step, i) => (
            <li key={i}>{step}</li>
          ))}
        </ol>
      )}
      {verdict && <p class="small">{verdict === 'approve' ? 'Approved the change.' : 'Requested changes.'}</p>}
      {passed !== undefined && <p class="small">{passed ? 'The test passed.' : 'The test failed.'}</p>}
      {comments.length + findings.length > 0 && (
        <ul class="handed-over">
          {comments.map(({ path, line, body }, i) => (
            <li key={i}>
              {path && <code>{line ? `${path}:${line}` : path}</code>} {body}
            </li>
          ))}
          {findings.map((finding, i) => (
            <li key={`finding ${i}`}>{finding}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Another run continues from the checkpoint of the step. */
function Continue({ runId, step, at }: { runId: string; step: RunStepFragment; at: number }) {
  const [prompt, setPrompt] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  if (prompt === null) {
    return (
      <div>
        <button
          type="button"
          class="quiet slim"
          aria-label={`Continue from here: ${step.role}`}
          onClick={() => setPrompt('')}
        >
          Continue from here
        </button>
      </div>
    );
  }
  const submit = async (event: Event) => {
    event.preventDefault();
    if (prompt.trim() === '' || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      const { continueRun: run } = await ask(continueRun, { runId, stepId: step.id, prompt });
      location.assign(pageAt(`/runs/${run.id}`));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const id = `continue-${step.id}`;
  return (
    <form class="compose" onSubmit={submit}>
      <label for={id}>What is to be done now</label>
      <textarea
        id={id}
        rows={3}
        maxLength={20_000}
        value={prompt}
        onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
      />
      <p class="muted small">
        A new run begins with the files of <Time at={at} />, on a branch of its own.
      </p>
      {problem && <Trouble problem={problem} />}
      <button type="submit" class="slim" disabled={isBusy}>
        Continue run
      </button>
    </form>
  );
}
