// The test of a pod from inside, before any mission: it has what missions need, and nothing that they must not have.
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import type { Limits } from '../contract.ts';
import { holdContainers, openPod, type PodContainer, podContainers } from '../isolation/pod.ts';

/** Prints a line for each fault of a container. */
const check = `
[ "$(id -u)" != 0 ] || echo "runs as root"
for program in node git sh; do command -v $program >/dev/null || echo "its image has no $program"; done
[ ! -e /var/run/secrets/kubernetes.io/serviceaccount/token ] || echo "has a token of a service account"
(: > /preflight) 2>/dev/null && { rm -f /preflight; echo "can write to its image"; }
case $0 in *servers) own=tmp ;; *) own=home ;; esac
(: > "$1/$own/preflight") 2>/dev/null || echo "cannot write to the folders of the mission"
case $0 in reader*) (: > "$1/work/preflight") 2>/dev/null && echo "can write to a checkout that is only for reading" ;; esac
true`;

const containersMs = 60_000;
const connectMs = 3_000;

export interface Preflight {
  folder: string;
  relayUrl: string;
  ports: number[];
  /** Address of the API server for pods; empty when unknown. */
  apiHost: string;
  apiPort: number;
}

/** Checks the pod. @returns a description of each fault */
export async function checkPod(
  { folder, relayUrl, ports, apiHost, apiPort }: Preflight,
  limits: Limits,
): Promise<string[]> {
  const pod = openPod(folder, ports);
  await holdContainers(folder, containersMs);
  const wrong: string[] = [];
  for (const name of podContainers)
    wrong.push(...(await wrongIn(name)).map((line) => `The container ${name} ${line}.`));
  const { hostname, port, protocol } = new URL(relayUrl);
  const relayPort = Number(port) || (protocol === 'https:' ? 443 : 80);
  if (!(await isReachable(hostname, relayPort))) wrong.push(`The relay ${relayUrl} cannot be reached.`);
  if (apiHost && (await isReachable(apiHost, apiPort)))
    wrong.push(
      'Pods of missions reach the API server: the NetworkPolicy of missions is missing, or the cluster enforces none.',
    );
  return wrong;

  async function wrongIn(name: PodContainer): Promise<string[]> {
    const home = name.endsWith('servers') ? `${folder}/tmp` : `${folder}/home`;
    const place = { work: `${folder}/work`, home, isReadOnly: name.startsWith('reader') };
    const container = pod.open(place, limits);
    const [file, args, env] = container.wrap('sh', ['-c', check, name, folder], {});
    const { stdout } = await promisify(execFile)(file, args, { env, timeout: containersMs });
    return stdout.split('\n').filter(Boolean);
  }
}

function isReachable(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: connectMs });
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
}
