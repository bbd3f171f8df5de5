// The recording of a mission: its size, when it is deleted, and the download.
import { recording } from '../generated/documents.ts';
import { may } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { useReading } from '../kit/reading.ts';
import { plural, size, Time } from '../kit/words.tsx';
import { ForkableCalls } from './fork.tsx';

export const Recording = ({ runId }: { runId: string }) => (may('artifacts:read') ? <Recorded runId={runId} /> : null);

function Recorded({ runId }: { runId: string }) {
  const { data } = useReading(recording, { runId });
  if (!data) return null;
  const { calls, omitted, sizeBytes, expiresAt, url } = data.recording;
  return (
    <Card title="Recording">
      <p>
        {plural(calls, 'call')} to models and tools, {size(sizeBytes)}
        {omitted > 0 && `; the content of ${omitted} is left out`}.{' '}
        <span class="muted">
          Kept until <Time at={expiresAt} />.
        </span>
      </p>
      <div class="answers">
        <a class="button quiet slim" href={url}>
          Download as JSON lines
        </a>
      </div>
      <ForkableCalls runId={runId} />
    </Card>
  );
}
