// Questions of a mission's agent, which a person answers with text, with a choice, or with a decision about a tool call.
import { useState } from 'preact/hooks';
import { answerElicitation, type RunPartsFragment } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { may, person } from '../kit/page.ts';
import { Card, ErrorNote } from '../kit/pieces.tsx';
import { useStored } from '../kit/stored.ts';
import { Time } from '../kit/words.tsx';

type Question = RunPartsFragment['questions'][number];

interface Properties {
  runId: string;
  questions: readonly Question[];
  onAnswered(): void;
}

export function Questions({ runId, questions, onAnswered }: Properties) {
  if (questions.length === 0) return null;
  return (
    <Card title={questions.some(({ tool }) => tool !== null) ? 'Decide' : 'Answer the agent'}>
      {questions.map((question) => (
        <QuestionCard
          key={`${question.sandboxId} ${question.seq}`}
          runId={runId}
          question={question}
          onAnswered={onAnswered}
        />
      ))}
    </Card>
  );
}

interface AskedProperties {
  runId: string;
  question: Question;
  onAnswered(): void;
}

function QuestionCard({ runId, question, onAnswered }: AskedProperties) {
  const { sandboxId, seq, text, choices, tool, at } = question;
  const field = `answer-${sandboxId}-${seq}`;
  const [words, setWords] = useStored(`${field} ${person}`, () => '');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const send = async (answer: { text: string; approve?: boolean }) => {
    setBusy(true);
    setProblem(null);
    try {
      await ask(answerElicitation, { runId, sandboxId, seq, ...answer });
      setWords(() => '');
      onAnswered();
    } catch (error) {
      setProblem(problemOf(error, 'Your answer is kept in this browser. Try again.'));
      setBusy(false);
    }
  };
  return (
    <form
      class="compose asked"
      onSubmit={(event) => {
        event.preventDefault();
        if (tool === null && words.trim() !== '' && !isBusy) void send({ text: words });
      }}
    >
      <p class="question">{text}</p>
      <p class="muted small">
        Asked <Time at={at} />
      </p>
      {tool !== null && (
        <>
          <code>{tool}</code>
          <pre class="call-result">{prettyArguments(question.arguments)}</pre>
        </>
      )}
      {may('missions:run') && (
        <>
          {choices && (
            <fieldset class="answers">
              <legend class="unseen">Answers</legend>
              {choices.map((choice) => (
                <button
                  key={choice}
                  type="button"
                  class="slim"
                  disabled={isBusy}
                  onClick={() => send({ text: choice })}
                >
                  {choice}
                </button>
              ))}
            </fieldset>
          )}
          <label for={field}>{tool !== null ? 'Reason for the agent' : choices ? 'Another answer' : 'Answer'}</label>
          <textarea
            id={field}
            rows={2}
            maxLength={4_000}
            value={words}
            onInput={({ currentTarget }) => setWords(() => currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form!.requestSubmit();
            }}
          />
          {problem && <ErrorNote problem={problem} />}
          {tool === null ? (
            <button type="submit" class="slim" disabled={isBusy || words.trim() === ''}>
              Send answer
            </button>
          ) : (
            <fieldset class="answers">
              <legend class="unseen">Decision</legend>
              <button type="button" class="slim" disabled={isBusy} onClick={() => send({ approve: true, text: words })}>
                Approve call
              </button>
              <button
                type="button"
                class="danger slim"
                disabled={isBusy}
                onClick={() => send({ approve: false, text: words })}
              >
                Deny call
              </button>
            </fieldset>
          )}
        </>
      )}
    </form>
  );
}

/** The arguments indented over several lines if they are JSON, else unchanged. */
export function prettyArguments(text: string | null): string {
  try {
    return JSON.stringify(JSON.parse(text ?? '{}'), null, 2);
  } catch {
    return text ?? '';
  }
}
