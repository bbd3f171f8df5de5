// Sandboxes in rows, with their CPU and memory.

import type { SandboxRowFragment } from '../generated/documents.ts';
import { Sparkline } from '../kit/chart.tsx';
import { pageAt } from '../kit/page.ts';
import { Pill } from '../kit/pieces.tsx';
import { cpuPercent, megabytes, Time } from '../kit/words.tsx';

export interface BusySandbox extends SandboxRowFragment {
  sparkline: { cpuPct: number; memUsedMb: number; memTotalMb: number }[];
  project?: { name: string } | null;
}

const Busy = ({ sandbox }: { sandbox: BusySandbox }) => {
  const { sparkline, lastCpuPct, lastMemUsedMb, lastMemTotalMb } = sandbox;
  const total = lastMemTotalMb ?? sparkline.at(-1)?.memTotalMb ?? 0;
  const [cpu, memory] = [lastCpuPct ?? 0, lastMemUsedMb ?? 0];
  return (
    <div class="busy">
      <div>
        <span class="muted small">CPU</span>
        <Sparkline
          values={sparkline.map((point) => point.cpuPct)}
          top={100}
          color="--accent"
          words={`CPU, now at ${cpuPercent(cpu)}`}
        />
        <span class="small figure">{cpuPercent(cpu)}</span>
      </div>
      <div>
        <span class="muted small">Memory</span>
        <Sparkline
          values={sparkline.map((point) => point.memUsedMb)}
          top={total}
          color="--good"
          words={`Memory, now at ${megabytes(memory)} of ${megabytes(total)}`}
        />
        <span class="small figure">{megabytes(memory)}</span>
      </div>
    </div>
  );
};

export const SandboxRows = ({ rows }: { rows: BusySandbox[] }) => (
  <ul class="rows">
    {rows.map((sandbox) => (
      <li key={sandbox.sandboxId} class="sandbox-row">
        <div class="row-top">
          <Pill status={sandbox.status} />
          <a class="row-link grow clip" href={pageAt(`/sandboxes/${sandbox.sandboxId}`)}>
            {sandbox.role} · {sandbox.harness}
          </a>
        </div>
        <div class="muted small clip">
          {[sandbox.project?.name, sandbox.instanceType, ''].filter((part) => part != null).join(' · ')}
          <Time at={sandbox.destroyedAt ?? sandbox.createdAt} />
        </div>
        {(sandbox.sparkline.length > 0 || sandbox.lastCpuPct !== null) && <Busy sandbox={sandbox} />}
      </li>
    ))}
  </ul>
);
