// A note in place of the transcript of a mission whose details were deleted under the retention settings of the organization.
import type { RunPartsFragment } from '../generated/documents.ts';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { Day, plural } from '../kit/words.tsx';
import { count } from './steps.tsx';

export function DeletedDetails({ kept, at }: { kept: NonNullable<RunPartsFragment['kept']>; at: number }) {
  const tokensIn = kept.inputTokens + kept.cachedInputTokens + kept.cacheWriteTokens;
  return (
    <Card title="Deleted details">
      <p>
        The details of this mission were deleted on <Day at={at} />, {plural(kept.retentionDays, 'day')} after it ended,
        under the <a href={pageAt('/settings')}>retention settings of the organization</a>: transcript, messages, logs,
        sandboxes and artifacts. Its result, cost and attestations are kept.
      </p>
      <dl class="figures details">
        <div>
          <dt>Steps</dt>
          <dd>{kept.steps}</dd>
        </div>
        <div>
          <dt>Messages of people</dt>
          <dd>{kept.messages}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>
            {count.format(tokensIn)} in, {count.format(kept.outputTokens)} out
          </dd>
        </div>
      </dl>
    </Card>
  );
}
