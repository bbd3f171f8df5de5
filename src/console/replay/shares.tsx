// The links that show a mission to people without an account: created, copied once, and revoked with one press.

import { createRunShare, type RunShareRowFragment, revokeRunShare, runShares } from '../generated/documents.ts';
import { ask, mutate } from '../kit/client.ts';
import { Copy } from '../kit/copy-as.tsx';
import { now } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Pill } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { useShownOnce } from '../kit/shown-once.ts';
import { plural, Time } from '../kit/words.tsx';

export function Shares({ runId }: { runId: string }) {
  const { data, problem, read } = useReading(runShares, { runId });
  const [address, show] = useShownOnce<string>();
  const create = async (days: number, key: string) => {
    show((await mutate(createRunShare, { runId, days }, key)).createRunShare.address);
    await read();
  };
  const links = data?.runShares.data.toReversed();
  return (
    <Card title="Links for people without an account" class="replay-links">
      <p class="muted">
        A link shows this mission without a sign-in, read-only. Secrets and addresses are masked, and artifacts are not
        shown.
      </p>
      <div class="actions">
        <Action label="Create a link valid for 7 days" class="slim" act={(key) => create(7, key)} />
        <Action label="For 30 days" act={(key) => create(30, key)} />
      </div>
      {address && (
        <div class="note good" role="status">
          <p>Copy this link now. You won’t see it again.</p>
          <code class="uncut">{address}</code>{' '}
          <Copy text={address} label="Copy" describes="Copy the address of the link" />
        </div>
      )}
      {problem && <ErrorNote problem={problem} retry={read} />}
      {links?.length === 0 && !address && <Empty>No link yet. Only members can see this mission.</Empty>}
      {links && links.length > 0 && (
        <ul class="rows">
          {links.map((link) => (
            <ShareRow key={link.id} link={link} onRevoked={read} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function ShareRow({ link, onRevoked }: { link: RunShareRowFragment; onRevoked(): unknown }) {
  const { id: shareId, createdBy, createdAt, expiresAt, revokedAt, revokedBy, uses, lastUsedAt } = link;
  const isActive = revokedAt === null && expiresAt > now();
  return (
    <li class="next-row wrap">
      <Pill status={isActive ? 'active' : revokedAt === null ? 'expired' : 'revoked'} />
      <span>
        {createdBy} <Time at={createdAt} />
      </span>
      <span class="muted small">
        {revokedAt === null ? 'ends' : `${revokedBy} revoked it`} <Time at={revokedAt ?? expiresAt} />, read{' '}
        {plural(uses, 'time')}
        {lastUsedAt !== null && (
          <>
            , last <Time at={lastUsedAt} />
          </>
        )}
      </span>
      {isActive && (
        <Action
          label="Revoke"
          describes={`Revoke the link of ${createdBy}`}
          class="danger slim"
          act={async () => {
            await ask(revokeRunShare, { shareId });
            await onRevoked();
          }}
        />
      )}
    </li>
  );
}
