// The pod of a mission: the runner of the mission, and containers for its programs.
import type { Limits } from '../contract.ts';
import type { ClaimRunRequest } from '../generated/operations.ts';
import type { Found } from '../harness/discovery.ts';
import { ports } from '../isolation/cell.ts';
import { type PodContainer, podContainers, starterSocket } from '../isolation/pod.ts';
import { starterProgram } from '../isolation/pod-programs.ts';
import type { ClusterSettings } from './settings.ts';

/** The mission of a pod, as the variable `MISSION` of its runner. */
export interface PodMission {
  folder: string;
  image: string;
  relayUrl: string;
  /** The claim that the runner of the cluster has sent, limited to this run. */
  claim: ClaimRunRequest;
  found: readonly Found[];
}

export interface PodPurpose {
  /** Image of the containers for programs. */
  image: string;
  limits: Limits;
  /** Arguments of the runner in the pod, and its variables. */
  args: string[];
  env: Record<string, string>;
  /**
   * Folders of the runner's image that contain the programs of harnesses. The other containers of the pod mount copies of these folders at
   * the same paths.
   */
  programs: string[];
}

/** The folder of a mission in its pod. */
export const missionFolder = '/mission';
const ownFolder = '/runner';
/** Time that a pod has for a last checkpoint after the cluster has asked it to end. */
export const graceMs = 60_000;
/**
 * A container ends if the runner of its pod has not connected to the container's starter within this time. The time is longer than the two
 * minutes for which the runner tries to connect.
 */
const holdMs = 5 * 60_000;
/** Folders of the mission in each container: `write` for reading and writing, `read` only for reading. */
const folders: Record<PodContainer, { write: string[]; read: string[] }> = {
  agent: { write: ['work', 'home', 'artifacts', 'root', 'start-agent'], read: ['skills'] },
  reader: { write: ['home', 'artifacts', 'start-reader'], read: ['work', 'skills'] },
  servers: { write: ['work', 'tmp', 'start-servers'], read: ['skills'] },
  'reader-servers': { write: ['tmp', 'start-reader-servers'], read: ['work', 'skills'] },
};
const allFolders = [...new Set(podContainers.flatMap((name) => [...folders[name].write, ...folders[name].read]))];

/** Creates the folders before containers mount them, so that they belong to the user of all containers. */
const prepare = `umask 077; cd ${missionFolder} && mkdir -p ${allFolders.join(' ')} && chmod 711 skills; at=0; for folder; do mkdir ${ownFolder}/programs/$at && cp -a "$folder/." ${ownFolder}/programs/$at && at=$((at + 1)) || exit 1; done`;

const mebibytes = (bytes: number): string => `${Math.max(1, Math.floor(bytes / 1024 ** 2))}Mi`;

export function podSpecOf(cluster: ClusterSettings, { image, limits, args, env, programs }: PodPurpose): object {
  const { runnerImage: own, user, serviceAccountName, runtimeClassName, imagePullSecrets } = cluster;
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceMs / 1_000,
    ...(serviceAccountName && { serviceAccountName }),
    ...(runtimeClassName && { runtimeClassName }),
    ...(imagePullSecrets.length > 0 && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    // The pod reaches only the relay, by its IP address, so no name is resolved.
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    securityContext: {
      runAsNonRoot: true,
      ...{ runAsUser: user, runAsGroup: user, fsGroup: user },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: volumesOf(limits),
    initContainers: [prepareContainer(own, programs), pullContainer(image)],
    containers: [
      runnerContainer(own, args, env),
      ...podContainers.map((name) => containerOf(name, image, limits, programs)),
    ],
  };
}

const missionMount = { name: 'mission', mountPath: missionFolder };
const tmpOf = (name: string) => ({ name: `tmp-${name}`, mountPath: '/tmp' });

const prepareContainer = (image: string, programs: string[]) => ({
  name: 'prepare',
  image,
  command: ['sh', '-c', prepare, 'prepare', ...programs],
  securityContext: restricted,
  resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
  volumeMounts: [missionMount, { name: 'programs', mountPath: `${ownFolder}/programs` }],
});

/**
 * Pulls the image of the mission before the runner of the pod starts, because that runner waits only a short time for the other containers.
 */
const pullContainer = (image: string) => ({
  name: 'pull',
  image,
  command: ['sh', '-c', 'exit 0'],
  securityContext: restricted,
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
  volumeMounts: [],
});

const runnerContainer = (image: string, args: string[], env: Record<string, string>) => ({
  name: 'runner',
  image,
  args,
  terminationMessagePolicy: 'FallbackToLogsOnError',
  env: [...Object.entries(env).map(([name, value]) => ({ name, value })), ...ownVariables, portsVariable],
  securityContext: restricted,
  resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } },
  volumeMounts: [missionMount, { name: 'runner', mountPath: ownFolder }, tmpOf('runner')],
});

/** The name and uid of the pod, which its runner sends when it asks for its mission. */
const ownVariables = ['name', 'uid'].map((field) => ({
  name: `POD_${field.toUpperCase()}`,
  valueFrom: { fieldRef: { fieldPath: `metadata.${field}` } },
}));

/** The ports that all containers of the pod have in common. */
const portsVariable = { name: 'MISSION_PORTS', value: [ports.gateway, ports.egress, ports.server].join(',') };

const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const volumesOf = ({ diskBytes }: Limits) => [
  { name: 'mission', emptyDir: { sizeLimit: mebibytes(diskBytes) } },
  { name: 'runner', emptyDir: { sizeLimit: mebibytes(diskBytes) } },
  { name: 'programs', emptyDir: { sizeLimit: '2Gi' } },
  ...['runner', ...podContainers].map((name) => ({ name: `tmp-${name}`, emptyDir: { sizeLimit: '1Gi' } })),
];

/**
 * Returns the specification of a container whose first program is the starter (pod-programs.ts). The agent's container also opens the ports
 * of the pod, because all containers share its network.
 */
function containerOf(name: PodContainer, image: string, { cpus, memoryBytes }: Limits, programs: string[]) {
  const root = `${missionFolder}/root`;
  const isAgent = name === 'agent';
  const started = {
    socket: starterSocket(missionFolder, name),
    // Sockets in the order of `MISSION_PORTS`, whose last port belongs to a program in the container.
    ports: isAgent ? [`${root}/gateway`, `${root}/egress`] : [],
    server: isAgent ? `${root}/server` : null,
    holdMs,
  };
  const mount = (folder: string, readOnly = false) => ({
    name: 'mission',
    mountPath: `${missionFolder}/${folder}`,
    subPath: folder,
    readOnly,
  });
  const programMounts = programs.map((mountPath, at) => ({
    name: 'programs',
    mountPath,
    subPath: String(at),
    readOnly: true,
  }));
  const { write, read } = folders[name];
  const limits = { ...(cpus && { cpu: String(cpus) }), memory: mebibytes(memoryBytes) };
  return {
    name,
    image,
    // The shell is the first process of the container and reaps orphaned processes. When the pod is to end, all containers get SIGTERM:
    // this one continues until the runner has saved the work of its programs.
    command: ['sh', '-c', 'trap "" TERM; node --eval "$0" "$1" & wait $!', starterProgram, JSON.stringify(started)],
    workingDir: '/',
    env: [{ name: 'HOME', value: `${missionFolder}/home` }, { name: 'TMPDIR', value: '/tmp' }, portsVariable],
    securityContext: restricted,
    // The other containers request little CPU and memory: only one of the agents works at a time, and few missions have MCP servers.
    resources: { limits, requests: isAgent ? limits : { cpu: '10m', memory: '64Mi' } },
    volumeMounts: [
      ...write.map((folder) => mount(folder)),
      ...read.map((folder) => mount(folder, true)),
      tmpOf(name),
      ...programMounts,
    ],
  };
}
