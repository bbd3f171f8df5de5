// The interval that the service requests between the heartbeats of missions whose agents accept messages.
import { afterEach, expect, it } from 'vitest';
import { createHeartbeatIntervals } from '#domain/execution/runtime/heartbeat-interval.ts';
import { seconds, setClock } from '#foundation/clock.ts';

afterEach(() => setClock());

/** Holds missions for a number of seconds. Each mission sends a heartbeat whenever its interval is over. Returns the last interval. */
function hold(
  intervals: ReturnType<typeof createHeartbeatIntervals>,
  from: number,
  forSeconds: number,
  missions: number,
) {
  const due = Array.from({ length: missions }, (_, n) => from + (n % 1_000));
  let interval = 0;
  for (let at = from; at < from + seconds(forSeconds); at += 50) {
    setClock(() => at);
    for (const [n, time] of due.entries()) {
      if (time > at) continue;
      interval = intervals.next([`run_${n}`]);
      due[n] = at + interval;
    }
  }
  return interval;
}

it('the heartbeat interval is one second for few missions, grows with their number to ten seconds, and shrinks again', () => {
  const intervals = createHeartbeatIntervals();
  expect(hold(intervals, seconds(1_000), 30, 100)).toBe(1_000);
  expect(hold(intervals, seconds(1_030), 30, 600)).toBe(4_000);
  expect(hold(intervals, seconds(1_060), 10, 2_000)).toBe(10_000);
  expect(hold(intervals, seconds(1_070), 120, 100)).toBe(1_000);
});
