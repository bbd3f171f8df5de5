// The steps of a run: who worked on it, in which part, what they handed over, and what it cost.
import type { RunStepFragment } from './documents.ts';
import { Card, Pill } from './pieces.tsx';
import { dollars, Lasted } from './words.tsx';

/** What the roles hand over. */
interface Output {
  steps?: string[];
  verdict?: 'approve' | 'request_changes';
  comments?: { path?: string | null; line?: number | null; body: string }[];
  passed?: boolean;
  findings?: string[];
}

const count = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

export function Steps({ steps }: { steps: readonly RunStepFragment[] }) {
  const inOrder = [...steps].reverse();
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
            {step.error && <p class="small">{step.error}</p>}
            {step.output !== null && <HandedOver output={step.output as Output} />}
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
