// Shows the attestations of the commits of a mission. Each attestation is shown as a summary with a button that downloads the attestation.
import { shownModel } from '../../surfaces/console/models.ts';
import type { RunAttestationsQuery } from '../generated/documents.ts';
import { Card } from '../kit/pieces.tsx';
import type { Reading } from '../kit/reading.ts';
import { saveFile } from '../kit/save-file.ts';
import { Time } from '../kit/words.tsx';

type Signed = RunAttestationsQuery['run']['attestations'][number];

/** The fields of a signed statement that the page shows (docs/attestations.md). */
interface Predicate {
  base: { branch: string | null; gitCommit: string | null };
  commit: { step: string };
  steps: {
    id: string;
    role: string;
    agent: { name: string; version: number | null };
    harness: { name: string; release: string | null };
    model: string;
  }[];
  calls: { size: number; model: number; tool: number; network: number; rootHash: string };
  approvals: unknown[];
  reviews: { verdict: string }[];
  cost: { usd: number };
}

function predicateOf({ envelope }: Signed): Predicate {
  const bytes = Uint8Array.from(atob(envelope.payload), (one) => one.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)).predicate;
}

export const Attestations = ({ reading }: { reading: Reading<RunAttestationsQuery> }) => (
  <>
    {(reading.data?.run.attestations ?? []).map((one) => (
      <Attested key={one.sha} signed={one} />
    ))}
  </>
);

function Attested({ signed }: { signed: Signed }) {
  const { sha, signedAt, keyId, envelope } = signed;
  const { base, commit, steps, calls, approvals, reviews, cost } = predicateOf(signed);
  const step = steps.find(({ id }) => id === commit.step);
  const file = new Blob([JSON.stringify(envelope)], { type: 'application/json' });
  return (
    <Card title={`Commit ${sha.slice(0, 12)}`}>
      <dl class="facts">
        {step && (
          <>
            <dt>Agent</dt>
            <dd>
              {step.agent.name}
              {step.agent.version !== null && `, version ${step.agent.version}`} ({step.role})
            </dd>
            <dt>Harness</dt>
            <dd>
              {step.harness.name} {step.harness.release}
              {shownModel(step.model) && `, ${step.model}`}
            </dd>
          </>
        )}
        <dt>Base</dt>
        <dd>
          {base.branch} <code>{base.gitCommit?.slice(0, 12)}</code>
        </dd>
        <dt>Calls</dt>
        <dd>{`${calls.model} model, ${calls.tool} tool, ${calls.network} network`}</dd>
        <dt>Merkle root of the calls</dt>
        <dd class="break">
          <code>{calls.rootHash}</code>
        </dd>
        <dt>Approvals</dt>
        <dd>{approvals.length}</dd>
        <dt>Reviews</dt>
        <dd>{reviews.map(({ verdict }) => verdict.replaceAll('_', ' ')).join(', ') || 'none'}</dd>
        <dt>Cost of the mission</dt>
        <dd>{cost.usd.toFixed(2)} USD</dd>
        <dt>Signed</dt>
        <dd>
          <Time at={signedAt} /> by the key <code>{keyId}</code>
        </dd>
      </dl>
      <button type="button" class="quiet slim" onClick={() => saveFile(file, `${sha}.attestation.json`)}>
        Download attestation
      </button>
    </Card>
  );
}
