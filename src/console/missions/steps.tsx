// Details of a mission's step: its agent and tokens, its output, and the form to continue from it.

import { useState } from 'preact/hooks';
import { shownModel } from '../../surfaces/console/models.ts';
import { continueRun, type RunStepFragment } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { pageAt, person } from '../kit/page.ts';
import { ErrorNote } from '../kit/pieces.tsx';
import { useStored } from '../kit/stored.ts';
import { Time } from '../kit/words.tsx';

/** Structured output of the roles. */
interface Output {
  steps?: string[];
  verdict?: 'approve' | 'request_changes';
  comments?: { path?: string | null; line?: number | null; body: string }[];
  passed?: boolean;
  findings?: string[];
}

export const count = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

export const StepFacts = ({ step }: { step: RunStepFragment }) => (
  <>
    {step.agentName}
    {step.agentVersion !== null && ` (version ${step.agentVersion})`}, {step.harness}
    {shownModel(step.model) && ` with ${step.model}`}
    {step.outputTokens > 0 &&
      `, ${count.format(step.inputTokens + step.cachedInputTokens + step.cacheWriteTokens)} tokens in, ${count.format(step.outputTokens)} out`}
  </>
);

interface Properties {
  runId: string;
  step: RunStepFragment;
  /** Whether the person may continue the mission from the step now. */
  canContinue: boolean;
}

export const StepResult = ({ runId, step, canContinue }: Properties) => (
  <>
    {step.error && <p class="step-error">{step.error}</p>}
    {step.output !== null && <HandedOver output={step.output as Output} />}
    {canContinue && step.checkpoint && <Continue runId={runId} step={step} at={step.checkpoint.createdAt} />}
  </>
);

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

/** Starts another mission from the checkpoint of the step. */
function Continue({ runId, step, at }: { runId: string; step: RunStepFragment; at: number }) {
  const [prompt, setPrompt] = useStored<string | null>(`continue ${person} ${step.id}`, () => null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  if (prompt === null) {
    return (
      <div>
        <button
          type="button"
          class="quiet slim"
          aria-label={`Continue from here: ${step.role}`}
          onClick={() => setPrompt(() => '')}
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
      setPrompt(() => null);
      location.assign(pageAt(`/runs/${run.id}`));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const id = `continue-${step.id}`;
  return (
    <form class="compose" onSubmit={submit}>
      <label for={id}>Next task</label>
      <textarea
        id={id}
        rows={3}
        maxLength={20_000}
        value={prompt}
        onInput={({ currentTarget }) => setPrompt(() => currentTarget.value)}
      />
      <p class="muted small">
        A new mission begins with the files of <Time at={at} />, on a branch of its own.
      </p>
      {problem && <ErrorNote problem={problem} />}
      <button type="submit" class="slim" disabled={isBusy}>
        Continue mission
      </button>
    </form>
  );
}
