// The gateway of a mission in a process of its own, to be killed (programs/domain/model-ceiling-kills.test.ts starts it).
import { openGateway } from '../../src/runner/protocol/gateway.ts';
import { openMeter } from '../../src/runner/protocol/meter.ts';
import { connect } from '../../src/runner/protocol/platform.ts';

/** Settings from the test, as JSON in the first argument. */
const { platform: url, token, vendor, stepId, ...held } = JSON.parse(process.argv[2]);
const platform = connect(url, token, new AbortController().signal);
let parked = 0;
const tell = (more) => process.send?.({ parked, ...more });
const meter = openMeter(platform, held, 5_000, () => {
  parked++;
  tell();
  return () => {
    parked--;
    tell();
  };
});
meter.countFor({ stepId, sandboxId: null, role: 'builder', sessionId: null });
const { port, key } = await openGateway(
  { anthropic: { base: vendor, headers: {} }, openai: null, mcp: {} },
  null,
  meter,
);
process.on('message', () => meter.settled().then(() => tell({ settled: true })));
tell({ port, key });
