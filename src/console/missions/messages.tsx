// Messages and decisions of people about a run, and the form for a new message.
import { useState } from 'preact/hooks';
import { type RunMessageFragment, sendMessage } from '../generated/documents.ts';
import { ask, type ProblemBody, problemOf } from '../kit/client.ts';
import { person } from '../kit/page.ts';
import { Card, Empty, ErrorNote } from '../kit/pieces.tsx';
import { useStored } from '../kit/stored.ts';
import { Time } from '../kit/words.tsx';

const did: Record<RunMessageFragment['kind'], string> = {
  message: '',
  answer: 'answered',
  approval: 'approved the plan',
  interrupt: 'interrupted the agent',
  resume: 'let the agent continue',
  handover: 'handed the mission to',
  push: 'pushed local changes:',
};

interface Properties {
  runId: string;
  messages: readonly RunMessageFragment[];
  /** Whether the person may send a message now. */
  isOpen: boolean;
  onSent(): void;
}

export function Messages({ runId, messages, isOpen, onSent }: Properties) {
  const inOrder = [...messages].reverse();
  return (
    <Card title="Messages">
      {inOrder.length > 0 ? (
        <ol class="messages">
          {inOrder.map((message) => (
            <li key={message.id}>
              <div class="step-head">
                <strong>{message.author}</strong>
                <span class="muted small">
                  {didWhat(message)} <Time at={message.createdAt} />
                </span>
                {(message.kind === 'message' || message.kind === 'answer') && (
                  <span class="muted small figures-inline">{receipt(message)}</span>
                )}
              </div>
              {message.text && <p>{message.text}</p>}
            </li>
          ))}
        </ol>
      ) : (
        <Empty>{isOpen ? 'Tell the agent what to do differently.' : 'No messages.'}</Empty>
      )}
      {isOpen && <Compose runId={runId} onSent={onSent} />}
    </Card>
  );
}

const didWhat = ({ kind, approved }: RunMessageFragment): string =>
  approved === null ? did[kind] : approved ? 'approved a tool call' : 'denied a tool call';

const receipt = ({ deliveredAt, acknowledgedAt }: RunMessageFragment): string => {
  if (acknowledgedAt !== null) return 'read by the agent';
  return deliveredAt === null ? 'not delivered yet' : 'delivered';
};

const newMessage = () => ({ text: '', messageId: crypto.randomUUID() });

function Compose({ runId, onSent }: Pick<Properties, 'runId' | 'onSent'>) {
  // With this id a message that is sent again after a lost response is stored once, even after a reload.
  const [{ text, messageId }, set] = useStored(`message ${person} ${runId}`, newMessage);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemBody | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === '' || isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await ask(sendMessage, { runId, text, messageId });
      set(newMessage);
      onSent();
    } catch (error) {
      setProblem(problemOf(error, 'Your message is kept in this browser. Try again.'));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="compose" onSubmit={submit}>
      <label for="message">Message to the agent</label>
      <textarea
        id="message"
        data-key="m"
        rows={3}
        maxLength={4_000}
        value={text}
        onInput={({ currentTarget }) => set((before) => ({ ...before, text: currentTarget.value }))}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit(event);
        }}
      />
      {problem && <ErrorNote problem={problem} />}
      <button type="submit" class="slim" disabled={isBusy}>
        Send message
      </button>
    </form>
  );
}
