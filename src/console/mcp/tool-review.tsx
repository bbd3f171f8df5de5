// Review of a bound server's tools, with the roles for which each is approved; tools that need a decision come first. Texts of a server are
// shown as plain text.
import { useEffect, useState } from 'preact/hooks';
import { type McpToolClaim, mcpToolReview, putMcpBinding } from '../generated/documents.ts';
import { Failure, isRecordChanged, mutate } from '../kit/client.ts';
import { FormFrame } from '../kit/fields.tsx';
import { type Form, useForm } from '../kit/form.ts';
import { may } from '../kit/page.ts';
import { ErrorNote, Loading } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural } from '../kit/words.tsx';
import { type Definable, Definition, Difference, type Review, type Tool } from './tool-difference.tsx';

type Choice = 'none' | 'builder' | 'all';
/** Permission for a tool: the roles that may use it, and whether a person decides about each call. */
interface Policy {
  who: Choice;
  alwaysAsk: boolean;
}

interface Values {
  /**
   * The choices that the person has changed. Each key is the digest of a tool's definition, so that the person must choose again if the
   * definition changes.
   */
  choices: Record<string, Policy>;
}

interface Properties {
  projectId: string;
  serverName: string;
  /** The server that is shown. The tools are read again when this is a new object. */
  server: object;
  done(words: string): void;
}

/** Number of tools shown at first, and added with each click on the button. */
const atFirst = 50;

export function ToolReview({ projectId, serverName, server, done }: Properties) {
  const { data, problem, read } = useReading(mcpToolReview, { projectId, serverName });
  const [visibleCount, setVisibleCount] = useState(atFirst);
  const [wanted, setWanted] = useState('');
  useEffect(read, [server]);
  const review = data?.mcpToolReview;
  const form = useForm<Values>({
    name: `tools of ${projectId} ${serverName}`,
    initial: { choices: {} },
    async send({ choices }, key) {
      const { roles, updatedAt: ifUpdatedAt } = review!.binding;
      const approvedTools = approvalsOf(review!, choices);
      const input = { roles, approvedTools };
      await mutate(putMcpBinding, { projectId, serverName, input, ifUpdatedAt }, key).catch((error) => {
        read();
        throw isRecordChanged(error) ? changedMeanwhile : error;
      });
      done(`Approved ${plural(approvedTools.length, 'tool')}.`);
    },
  });
  if (!review) return <Loading problem={problem} retry={read} rows={2} height={60} />;
  const { tools } = review;
  if (tools.length === 0) return null;
  const news = tools.filter(({ change }) => change !== 'none');
  const found = [...news, ...tools.filter(({ change }) => change === 'none')].filter(({ name, tool }) =>
    `${name} ${tool?.description}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  const rows = found.slice(0, visibleCount);
  const list = (
    <>
      {tools.length > 10 && (
        <div class="filters">
          <label>
            Find a tool
            <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
          </label>
        </div>
      )}
      <ul class="rows tools" aria-label={`Tools of ${serverName}`}>
        {rows.map((tool) => (
          <li key={tool.name}>
            <About tool={tool} />
            <ToolView key={tool.digest} projectId={projectId} serverName={serverName} tool={tool} />
            {may('mcp:write') && tool.digest && (
              <Choices key={tool.digest} form={form} serverName={serverName} tool={tool} review={review} />
            )}
          </li>
        ))}
      </ul>
      {found.length > visibleCount && (
        <div class="more-row">
          <button type="button" class="quiet slim" onClick={() => setVisibleCount(visibleCount + atFirst)}>
            Show more tools
          </button>
        </div>
      )}
    </>
  );
  return (
    <div class="tool-review">
      <h3>Tools</h3>
      {problem && <ErrorNote problem={problem} retry={read} />}
      <p class="muted small">
        {tools.length} in all;{' '}
        {news.length === 0 ? 'no changes since the last approval' : `${news.length} new, changed or removed`}. A builder
        gets every approved tool; other roles get only read-only tools.
      </p>
      {may('mcp:write') ? (
        <FormFrame form={form} action={`Approve tools of ${serverName}`}>
          {list}
        </FormFrame>
      ) : (
        list
      )}
    </div>
  );
}

const ToolView = (properties: Definable) =>
  /changed|removed/.test(properties.tool.change) ? <Difference {...properties} /> : <Definition {...properties} />;

const changedMeanwhile = new Failure({
  title: 'The server has changed',
  description: 'Its tools were read again. Review the changes, then approve.',
  retryable: true,
});

/** A changed tool must be chosen again, so that nobody approves it without noticing. */
function choiceOf({ name, change, digest }: Tool, { binding }: Review, chosen: Values['choices']): Policy {
  const approval = change === 'changed' ? undefined : binding.approvedTools.find((tool) => tool.name === name);
  const who = !approval ? 'none' : approval.attestedReadOnly ? 'all' : 'builder';
  return chosen[digest ?? ''] ?? { who, alwaysAsk: approval?.alwaysAsk ?? false };
}

const approvalsOf = (review: Review, choices: Values['choices']) =>
  review.tools.flatMap((tool) => {
    const { who, alwaysAsk } = choiceOf(tool, review, choices);
    return tool.digest && who !== 'none' ? [{ name: tool.name, attestedReadOnly: who === 'all', alwaysAsk }] : [];
  });

const options: readonly (readonly [Choice, string])[] = [
  ['none', 'Nobody'],
  ['builder', 'Builders'],
  ['all', 'All roles: the tool changes nothing'],
];

interface ChoicesProperties {
  form: Form<Values>;
  serverName: string;
  tool: Tool;
  review: Review;
}

function Choices({ form, serverName, tool, review }: ChoicesProperties) {
  const { choices } = form.values;
  const present = choiceOf(tool, review, choices);
  const choose = (change: Partial<Policy>) =>
    form.set({ choices: { ...choices, [tool.digest!]: { ...present, ...change } } });
  return (
    <fieldset>
      <legend class="unseen">
        Who may use {tool.name} of {serverName}
      </legend>
      <div class="choices">
        {options.map(([choice, words]) => (
          <label key={choice} class="choice">
            <input
              type="radio"
              name={`${serverName} ${tool.digest}`}
              checked={choice === present.who}
              onChange={() => choose({ who: choice })}
            />
            {words}
          </label>
        ))}
        <label class="choice">
          <input
            type="checkbox"
            checked={present.alwaysAsk}
            disabled={present.who === 'none'}
            onChange={({ currentTarget }) => choose({ alwaysAsk: currentTarget.checked })}
          />
          Ask a person before each call
        </label>
      </div>
    </fieldset>
  );
}

const claimWords: Record<McpToolClaim, string> = {
  reads_only: 'reads only',
  destroys: 'destroys data',
  reaches_outside: 'contacts external systems',
};

/** The server's description of the tool, which nobody has verified. */
const About = ({ tool: { name, change, claims, tool } }: { tool: Tool }) => (
  <>
    <div class="break">
      <strong>
        <code>{name}</code>
      </strong>{' '}
      {change !== 'none' && <span class="tag">{change}</span>}{' '}
      {claims.length > 0 && (
        <span class="muted small">The server says: {claims.map((one) => claimWords[one]).join(', ')}</span>
      )}
    </div>
    {tool?.description && change !== 'changed' && <p class="tool-words">{tool.description}</p>}
  </>
);
