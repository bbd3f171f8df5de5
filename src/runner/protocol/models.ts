// The models of a mission: the connectors of its organization, and for other vendors the runner's own credentials. When the organization
// revokes a connector, pending calls end, and so does a step that has used it.
import { type RunLease, type Vendor, vendors } from '../contract.ts';
import { reportModelRejected } from '../generated/operations.ts';
import { isOnLoopback } from '../network/addresses.ts';
import { openEgress } from './egress.ts';
import type { Connector, Platform } from './platform.ts';
import { keyHeader, type Upstream, type Upstreams } from './upstreams.ts';

/** Models of one step. */
export interface StepModels {
  /** Handles the revision in the response to a heartbeat. */
  update(revision: string | null): void;
  /** Resolves with the reason when the step cannot continue. */
  failed: Promise<string>;
}

interface Connected {
  connector: Connector;
  upstream: Upstream;
  cut: AbortController;
  isUsed: boolean;
}

function upstreamOf(
  { vendor, baseUrl, apiKey, name }: Connector,
  { url, via }: Platform,
  signal: AbortSignal,
  answered: (status: number) => void,
): Upstream {
  const headers = keyHeader(vendor, apiKey);
  // The relay checks the addresses itself.
  if (via.isRelayed) return { base: via.host(baseUrl), headers, signal, answered };
  const { agent, refusal } = openEgress(baseUrl, isOnLoopback(url));
  return {
    base: baseUrl,
    headers,
    agent,
    signal,
    refusal: refusal && `The model connector ${name} cannot be reached: ${refusal}.`,
    answered,
  };
}

/** Connects the gateway's upstreams with the organization's model connectors for one step, and keeps them up to date. */
function createConnections(platform: Platform, lease: RunLease, upstreams: Upstreams, fail: (why: string) => void) {
  const connected = new Map<Vendor, Connected>();

  function connect(connector: Connector): Connected {
    const { vendor, name, integrationId, apiKey } = connector;
    platform.conceal([apiKey]);
    const cut = new AbortController();
    const upstream = upstreamOf(connector, platform, cut.signal, (status) => {
      one.isUsed = true;
      if (status !== 401) return;
      fail(`The vendor rejected the credentials of the model connector ${name}.`);
      platform.mutate(reportModelRejected, { ...lease, integrationId }).catch(() => {});
    });
    const one = { connector, upstream, cut, isUsed: false };
    connected.set(vendor, one);
    upstreams[vendor] = upstream;
    return one;
  }

  function lose(vendor: Vendor, { connector, cut, isUsed }: Connected): void {
    const why = `The model connector ${connector.name} was revoked.`;
    connected.delete(vendor);
    // The runner's own credentials do not replace a connector during a step, because the organization has not chosen them.
    upstreams[vendor] = { base: '', headers: {}, refusal: why };
    cut.abort();
    if (isUsed) fail(why);
  }

  return {
    connect,
    /** Removes revoked connectors, and adds new ones and new keys. */
    change(connectors: readonly Connector[]): void {
      for (const vendor of vendors) {
        const [before, now] = [connected.get(vendor), connectors.find((one) => one.vendor === vendor)];
        if (!before) {
          if (now && !upstreams[vendor]?.refusal) connect(now);
        } else if (before.connector.integrationId !== now?.integrationId) lose(vendor, before);
        else if (before.connector.apiKey !== now.apiKey) connect(now).isUsed = before.isUsed;
      }
    },
  };
}

/** Opens a mission's access to its models. @param upstreams Upstreams of the gateway, which each step changes. */
export const openModels = (
  platform: Platform,
  lease: RunLease,
  upstreams: Upstreams,
  runnerUpstreams: Pick<Upstreams, Vendor>,
) => ({
  /** Called before a step. @throws when the platform has no readable credentials */
  async begin(): Promise<StepModels> {
    let { connectors, revision } = await platform.models(lease);
    let fail: (why: string) => void = () => {};
    const failed = new Promise<string>((resolve) => {
      fail = resolve;
    });
    Object.assign(upstreams, runnerUpstreams);
    const connections = createConnections(platform, lease, upstreams, fail);
    for (const connector of connectors) connections.connect(connector);

    async function refresh(): Promise<void> {
      ({ connectors, revision } = await platform.models(lease));
      connections.change(connectors);
    }
    let isAsking = false;
    function update(latest: string | null): void {
      if (latest === null || latest === revision || isAsking) return;
      isAsking = true;
      refresh()
        .catch((error) => fail(`The credentials of the model are unknown: ${(error as Error).message}`))
        .finally(() => {
          isAsking = false;
        });
    }
    return { update, failed };
  },
});
