// Figures of quality: missions by week, and the shares, times and costs of each agent, version or project.
import {
  projects,
  type QualityFiguresFragment,
  type QualityGroup,
  type QualityQuery,
  quality,
} from '../generated/documents.ts';
import { Chart } from '../kit/chart.tsx';
import { CopyAs } from '../kit/copy-as.tsx';
import { AgentFilter, FilterChoice, ProjectFilter, useWord } from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Empty, ErrorNote, Meter, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useReading } from '../kit/reading.ts';
import { ScrollTable, TableHead } from '../kit/scroll-block.tsx';
import { day, dollars, duration, percent, plural } from '../kit/words.tsx';

const groups: readonly QualityGroup[] = ['agent', 'version', 'project', 'all'];
const groupWords = [
  ['version', 'Agent version'],
  ['project', 'Project'],
  ['all', 'No grouping'],
] as const;
const periods = [
  ['7', 'Last 7 days'],
  ['90', 'Last 90 days'],
  ['365', 'Last year'],
] as const;

export function Quality() {
  const groupBy = useWord('by', groups) ?? 'agent';
  const [projectId] = useFilter('projectId');
  const [agentId] = useFilter('agentId');
  const days = Number(useWord('days', ['7', '90', '365']) ?? 30);
  const { data, problem, read } = useReading(quality, { groupBy, days, projectId, agentId });
  const { data: known } = useReading(projects, { limit: 100 });
  const report = data?.qualityFigures;
  return (
    <>
      <Heading title="Quality">
        <CopyAs
          path={`/quality-figures?groupBy=${groupBy}&days=${days}`}
          graphql={`{ qualityFigures(groupBy: ${groupBy}, days: ${days}) { data { agentName missions mergedShare } } }`}
          client={`client.qualityFigures({ groupBy: '${groupBy}', days: ${days} })`}
        />
      </Heading>
      <p class="muted about">
        Each mission that has ended is counted once, for the agent that wrote the change. All runs on one branch count
        as one mission. The time to merge and the wait for a runtime are medians.
      </p>
      <div class="filters">
        <FilterChoice name="by" label="By" any="Agent" options={groupWords} />
        <FilterChoice name="days" label="Period" any="Last 30 days" options={periods} />
        <ProjectFilter />
        <AgentFilter />
      </div>
      {problem && <ErrorNote problem={problem} retry={read} />}
      {!report ? (
        !problem && <Skeleton rows={4} height={72} />
      ) : report.data.length === 0 ? (
        <Empty>
          <p>No mission has ended in this period. Figures appear once a mission has ended.</p>
        </Empty>
      ) : (
        <>
          <Weeks weeks={report.weeks} />
          <Card title="Figures" aside={plural(report.data.length, 'group')}>
            <ScrollTable label="Figures by group">
              <table>
                <TableHead
                  columns={[
                    groupBy === 'project' ? 'Project' : 'Agent',
                    { number: 'Missions' },
                    { number: 'Completed' },
                    { number: 'Merged' },
                    { number: 'Reverted' },
                    { number: 'Time to merge' },
                    { number: 'Wait' },
                    { number: 'Runs' },
                    { number: 'Messages' },
                    { number: 'Cost per merge' },
                    { number: 'At a limit' },
                  ]}
                />
                <tbody>
                  {report.data.map((one, i) => (
                    <FiguresRow key={i} one={one} projects={known?.projects.data ?? []} />
                  ))}
                </tbody>
              </table>
            </ScrollTable>
          </Card>
        </>
      )}
    </>
  );
}

interface RowProperties {
  one: QualityFiguresFragment;
  projects: readonly { id: string; name: string }[];
}

function FiguresRow({ one, projects }: RowProperties) {
  return (
    <tr>
      <th scope="row" style={{ minWidth: '11rem' }}>
        <Name one={one} projects={projects} />
      </th>
      <td class="number">{one.missions}</td>
      <td class="number">
        <Share value={one.completedShare} label={`${one.completed} of ${one.missions} missions completed`} />
      </td>
      <td class="number">
        <Share value={one.mergedShare} label={`${one.merged} of ${one.pullRequests} pull requests merged`} />
      </td>
      <td class="number">
        <Share value={one.revertedShare} label={`${one.reverted} of ${one.merged} merged pull requests reverted`} />
      </td>
      <td class="number">{one.msToMerge === null ? '–' : duration(one.msToMerge)}</td>
      <td class="number">{one.msToStart === null ? '–' : duration(one.msToStart)}</td>
      <td class="number">{one.runsPerMission.toFixed(1)}</td>
      <td class="number">{one.messagesPerMission.toFixed(1)}</td>
      <td class="number">{one.costPerMergedUsd === null ? '–' : dollars(one.costPerMergedUsd)}</td>
      <td class="number">{one.endedAtLimit}</td>
    </tr>
  );
}

function Name({ one, projects }: RowProperties) {
  const { projectId, agentId, agentName, agentVersion } = one;
  if (projectId)
    return (
      <a href={pageAt(`/projects/${projectId}`)}>{projects.find(({ id }) => id === projectId)?.name ?? projectId}</a>
    );
  const name = agentName ?? 'All missions';
  const words = agentVersion === null ? name : `${name}, version ${agentVersion}`;
  return agentId ? <a href={pageAt(`/agents/${agentId}`)}>{words}</a> : words;
}

const Share = ({ value, label }: { value: number | null; label: string }) =>
  value === null ? (
    <>–</>
  ) : (
    <>
      {percent(value * 100)}
      <Meter value={value * 100} label={label} />
    </>
  );

type Week = QualityQuery['qualityFigures']['weeks'][number];

/**
 * Adds the weeks in which no mission ended, and makes sure that there are at least four weeks. On a chart of fewer weeks, the axis would
 * show times of day.
 */
function withoutGaps(weeks: readonly Week[]): Week[] {
  const found = new Map(weeks.map((week) => [week.start, week]));
  const [first, last] = [weeks[0]!.start, weeks.at(-1)!.start];
  const all: Week[] = [];
  for (let start = Math.min(first, last - 21 * day); start <= last; start += 7 * day)
    all.push(found.get(start) ?? { start, missions: 0, completed: 0, merged: 0 });
  return all;
}

function Weeks({ weeks: known }: { weeks: readonly Week[] }) {
  const weeks = withoutGaps(known);
  const all = weeks.reduce((sum, { missions }) => sum + missions, 0);
  const merged = weeks.reduce((sum, week) => sum + week.merged, 0);
  return (
    <Card title="Missions by week">
      <Chart
        height={160}
        times={weeks.map(({ start }) => start)}
        curves={[
          { label: 'Ended', color: '--muted', values: weeks.map(({ missions }) => missions) },
          { label: 'Completed', color: '--accent', values: weeks.map(({ completed }) => completed) },
          { label: 'Merged', color: '--good', values: weeks.map((week) => week.merged), area: true },
        ]}
        unit={(count) => String(count)}
        top={4}
        steps={[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000]}
        words={`${plural(all, 'mission')} ended, ${merged} merged.`}
      />
    </Card>
  );
}
