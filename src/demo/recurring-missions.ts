// The demo's recurring missions, which are scripts: a scheduled task due on Mondays at 09:00 in Auckland, and a disabled
// automation. src/runner executes them.
import type { Caller } from '#access/principal.ts';
import { lockOrganization } from '#domain/organization/organizations/operations.ts';
import { Automation, ScheduledTask } from '#domain/work/recurring/model.ts';
import { changeRecurring, createRecurring } from '#domain/work/recurring/operations.ts';
import { transaction } from '#foundation/postgres/database.ts';

export const missionName = 'Monday health check';

// The artifact of the demo mission: an image (PNG) of a chart with eight bars.
const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAKAAAABaCAMAAAAIGK1gAAAACVBMVEX19vhjhNYuoGe3rKh9AAAAa0lEQVR42u3VKxIAIAhAQfX+h7Y5BKMfHPdF0gYGSpEk' +
  'SSdrMUBAQEBAwFGNAQImAc5mgIC7lh8QEBBw830DBAQEBPwNuPqFAQJ+ATwxAwQEBAR8EXgLAwgICAgICAgICAgICAgICAiYG9gBi38aXNUGQtwAAAAASUVO' +
  'RK5CYII=';

// The script is POSIX sh only, so that it runs wherever the service does.
const script = `# Lines that begin with :: report progress; all others are the log.
echo "::plan Look around | Measure | Write it down"
echo "::step Look around"
echo "::thought This machine is mine for a few seconds. First I look around."
echo "::progress 10 Looking around"
uname -a
echo "Working in $(pwd)"
sleep 2

echo "::step Measure"
echo "::action measure load average"
echo "::progress 35 Measuring"
i=0
while [ $i -lt 6 ]; do
  i=$((i + 1))
  n=0; while [ $n -lt 60000 ]; do n=$((n + 1)); done
  echo "sample $i: $(uptime | sed 's/.*load/load/')"
  sleep 1
done
echo "::cost 0.02"

echo "::step Write it down"
echo "::thought Numbers are in. A page shows them better than a log."
echo "::progress 75 Writing it down"
mkdir -p site
{
  echo "<!doctype html><title>Health check</title><h1>All is well</h1><p>$(uptime)</p>"
} > site/index.html
echo "::preview site"
sleep 2
{
  echo "# Health check"
  echo
  echo "All is well. $(date -u)"
} > "$ARTIFACTS/report.md"
echo "{\\"ok\\": true, \\"samples\\": $i}" > "$ARTIFACTS/result.json"
uptime > "$ARTIFACTS/uptime.log"
echo ${picture} | base64 -d > "$ARTIFACTS/health.png" 2>/dev/null || rm -f "$ARTIFACTS/health.png"
echo "::progress 95 Handing in"
echo "::response All is well: see the report."
`;

const diskScript = `echo "::thought How much room is left?"
df -h . | tee "$ARTIFACTS/disk.txt"
echo "::response Measured: see the log."
`;

/** Creates each mission unless one with its name exists, so that people's changes are kept. */
export const seedMission = (caller: Caller, projectId: string): Promise<void> =>
  transaction(async (trx) => {
    const { orgId } = caller;
    // A concurrent seeding waits here, and then finds the records that this seeding created.
    await lockOrganization(trx, orgId!);
    const timezone = 'Pacific/Auckland';
    const task = await ScheduledTask.find({ orgId, name: missionName });
    if (!task) {
      const schedule = { interval: 'weekly', weekday: 'monday', time: '09:00', timezone } as const;
      await createRecurring(ScheduledTask, caller, {
        projectId,
        name: missionName,
        prompt: script,
        templateKey: 'script',
        triggers: [{ kind: 'schedule', schedule }],
        labels: ['health'],
        skipIfPreviousOpen: true,
        enabled: true,
      });
    } else if (task.agentId === null && task.prompt === script) {
      // Earlier releases created the task without `templateKey`.
      await changeRecurring(ScheduledTask, caller, task.id, { templateKey: 'script' });
    }
    if (!(await Automation.find({ orgId, name: 'Disk space' }))) {
      const schedule = { interval: 'daily', time: '06:00', timezone } as const;
      await createRecurring(Automation, caller, {
        projectId,
        name: 'Disk space',
        prompt: diskScript,
        templateKey: 'script',
        triggers: [{ kind: 'schedule', schedule }],
        labels: ['health'],
        skipIfPreviousOpen: true,
        enabled: false,
      });
    }
  });
