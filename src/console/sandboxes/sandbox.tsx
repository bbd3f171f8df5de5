// One sandbox: its metrics, the work of its agent, and its logs.

import { killSandbox } from '../generated/documents.ts';
import { Chart } from '../kit/chart.tsx';
import { ask } from '../kit/client.ts';
import { Heading } from '../kit/heading.tsx';
import { may, pageAt } from '../kit/page.ts';
import { Action, Card, Empty, ErrorNote, Loading, Pill } from '../kit/pieces.tsx';
import { type Detail, isAlive, useSandbox } from '../kit/watching.ts';
import { cpuPercent, duration, Lasted, megabytes, percent, Time } from '../kit/words.tsx';
import { Log } from '../logs/log.tsx';
import { Fragments } from '../missions/fragments.tsx';

export function Sandbox({ id: sandboxId }: { id: string }) {
  const { detail, problem, read, end } = useSandbox(sandboxId, true);
  const run = detail?.sandbox.run;
  const above: [string, string][] = run
    ? [
        [pageAt('/runs'), 'Missions'],
        [pageAt(`/runs/${run.id}`), run.missionTitle ?? 'Untitled mission'],
      ]
    : [[pageAt('/overview'), 'Overview']];
  const heading = <Heading title={detail && `Sandbox of the ${detail.sandbox.role}`} above={above} />;
  if (!detail) {
    return (
      <>
        {heading}
        <Loading problem={problem} retry={read} rows={3} height={160} />
      </>
    );
  }
  const kill = async () => {
    await ask(killSandbox, { sandboxId });
    end();
  };
  return (
    <>
      {heading}
      {problem && <ErrorNote problem={problem} retry={read} />}
      <Card
        title="Status"
        aside={
          isAlive(detail) &&
          may('sandboxes:write') && (
            <Action
              label="Kill"
              describes="Kill sandbox"
              class="danger slim"
              question="The sandbox ends at once. Unfinished work of its agent is lost."
              act={kill}
            />
          )
        }
      >
        <Facts detail={detail} />
      </Card>
      <Metrics detail={detail} />
      <div class="columns">
        <Log sandboxId={sandboxId} sessions={detail.sessions} news={detail} />
        <Card title="Activity">
          {detail.sandbox.logsDeletedAt !== null && detail.liveFragments.length === 0 ? (
            <Empty>
              The transcript was deleted <Time at={detail.sandbox.logsDeletedAt} />, under the retention settings of the
              organization.
            </Empty>
          ) : (
            <Fragments sandboxId={sandboxId} fragments={detail.liveFragments} isOver={!isAlive(detail)} />
          )}
        </Card>
      </div>
    </>
  );
}

function Facts({ detail }: { detail: Detail }) {
  const { sandbox } = detail;
  const { createdAt, destroyedAt, lastHeartbeatAt, run, project, timeoutAt } = sandbox;
  return (
    <>
      <div class="status-line" aria-live="polite">
        <Pill status={sandbox.status} />
        <span class="grow">
          {sandbox.role} · {sandbox.harness} {sandbox.harnessVersion}
          {sandbox.terminationReason && <span class="muted"> · {sandbox.terminationReason}</span>}
        </span>
      </div>
      <dl class="figures">
        <div>
          <dt>Duration</dt>
          <dd>
            <Lasted from={createdAt} to={isAlive(detail) ? null : (destroyedAt ?? lastHeartbeatAt)} />
          </dd>
        </div>
        <div>
          <dt>Last heartbeat</dt>
          <dd>
            <Time at={lastHeartbeatAt} />
          </dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{sandbox.instanceType}</dd>
        </div>
        {timeoutAt !== null && destroyedAt === null && (
          <div>
            <dt>Time limit</dt>
            <dd>
              <Time at={timeoutAt} />
            </dd>
          </div>
        )}
        <div>
          <dt>Project</dt>
          <dd>
            <a href={pageAt(`/projects/${sandbox.projectId}`)}>{project?.name ?? sandbox.projectId}</a>
          </dd>
        </div>
        {run && (
          <div>
            <dt>Mission</dt>
            <dd>
              <a href={pageAt(`/runs/${run.id}`)}>{run.missionTitle ?? run.id}</a>
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}

/** Steps of the axis: powers of two, because sizes of memory are multiples of them. */
const powers = Array.from({ length: 16 }, (_, i) => 2 ** (i + 4));

function Metrics({ detail }: { detail: Detail }) {
  const { metrics = [] } = detail;
  const last = metrics.at(-1);
  if (!last) {
    return (
      <Card title="Metrics">
        <Empty>{isAlive(detail) ? 'No metrics yet.' : 'No metrics.'}</Empty>
      </Card>
    );
  }
  const times = metrics.map(({ t }) => t);
  const highest = (values: number[]) => Math.max(...values);
  const [cpu, memory, disk] = [
    metrics.map(({ cpuPct }) => cpuPct),
    metrics.map(({ memUsedMb }) => memUsedMb),
    metrics.map(({ diskUsedPct }) => diskUsedPct),
  ];
  return (
    <div class="charts">
      <Card title="CPU" aside={cpuPercent(last.cpuPct)}>
        <Chart
          height={150}
          times={times}
          curves={[{ label: 'CPU', color: '--accent', values: cpu, area: true }]}
          unit={(value) => `${value} %`}
          top={100}
          words={`CPU: last ${cpuPercent(last.cpuPct)}, highest ${cpuPercent(highest(cpu))}, over ${duration(last.t - times[0]!)}`}
        />
      </Card>
      <Card title="Memory" aside={`${megabytes(last.memUsedMb)} of ${megabytes(last.memTotalMb)}`}>
        <Chart
          height={150}
          times={times}
          curves={[{ label: 'Memory', color: '--good', values: memory, area: true }]}
          unit={megabytes}
          steps={powers}
          top={last.memTotalMb}
          words={`Memory: last ${megabytes(last.memUsedMb)}, highest ${megabytes(highest(memory))}, of ${megabytes(last.memTotalMb)}`}
        />
      </Card>
      <Card title="Disk" aside={percent(last.diskUsedPct)}>
        <Chart
          height={150}
          times={times}
          curves={[{ label: 'Disk', color: '--warn', values: disk, area: true }]}
          unit={(value) => `${value} %`}
          top={100}
          words={`Disk: last ${percent(last.diskUsedPct)}, highest ${percent(highest(disk))}`}
        />
      </Card>
    </div>
  );
}
