// Ids, typed by the kind of record: a project's id cannot be passed where an organization's is expected. After the prefix, an id is a
// UUIDv7 in hex, which sorts by time and cannot be guessed.
import { createHash, randomFillSync } from 'node:crypto';
import { now } from './clock.ts';

export const prefixes = {
  person: 'usr',
  organization: 'org',
  invite: 'inv',
  project: 'prj',
  integration: 'int',
  token: 'tok',
  session: 'ses',
  signInCode: 'sic',
  passkey: 'psk',
  service: 'svc',
  accessToken: 'act',
  client: 'mcp',
  signIn: 'sgn',
  registration: 'reg',
  claimAttempt: 'cla',
  identityProvider: 'idp',
  signInDomain: 'dom',
  request: 'req',
  scheduledTask: 'sch',
  automation: 'aut',
  run: 'run',
  runStep: 'stp',
  runMessage: 'msg',
  attemptGroup: 'grp',
  runShare: 'shl',
  recordingPart: 'rec',
  missionView: 'viw',
  review: 'rvw',
  reviewComment: 'cmt',
  issue: 'iss',
  issueComment: 'icm',
  agent: 'agn',
  agentVersion: 'agv',
  missionCost: 'mco',
  budget: 'bud',
  sandbox: 'sbx',
  environment: 'env',
  artifact: 'art',
  content: 'cnt',
  lease: 'lse',
  preparation: 'pre',
  terminal: 'trm',
  inboundHook: 'hok',
  inboundDelivery: 'dlv',
  webhookEndpoint: 'whk',
  webhookDelivery: 'whd',
  missionNotice: 'mno',
  chatThread: 'cht',
  directoryToken: 'sct',
  directoryUser: 'scu',
  directoryGroup: 'scg',
  sandboxTemplate: 'sbt',
  secret: 'sec',
  auditCheckpoint: 'acp',
  mcpBinding: 'mcb',
  mcpCall: 'mcc',
  outsideEffect: 'eff',
  creditLot: 'lot',
  creditTransfer: 'crt',
  creditRequest: 'crq',
  checkout: 'chk',
  order: 'ord',
  subscription: 'sub',
} as const;

export type Noun = keyof typeof prefixes;
export type Id<N extends Noun> = `${(typeof prefixes)[N]}_${string}`;

/** The id if its prefix is that of the kind, else null. */
export const idOfNoun = <N extends Noun>(noun: N, id: string | null): Id<N> | null =>
  id?.startsWith(`${prefixes[noun]}_`) ? (id as Id<N>) : null;

/** A new id such as `prj_0193f0c2…`: 48 bits of time in milliseconds, then 80 random bits. */
export function newId<N extends Noun>(noun: N): Id<N> {
  return `${prefixes[noun]}_${now().toString(16).padStart(12, '0')}${randomHex()}`;
}

/** Random bytes are read in blocks, because the call costs more than the bytes. */
const drawn = { bytes: Buffer.alloc(10 * 256), used: 10 * 256 };

function randomHex(): string {
  const { bytes } = drawn;
  if (drawn.used === bytes.length) {
    randomFillSync(bytes);
    drawn.used = 0;
  }
  drawn.used += 10;
  return bytes.toString('hex', drawn.used - 10, drawn.used);
}

/** The time at which `newId` created the id, epoch milliseconds; meaningless for a derived id. */
export const creationTimeOf = (id: string): number => Number.parseInt(id.slice(id.indexOf('_') + 1).slice(0, 12), 16);

/** An id derived from names within `scope`: the same names return the same id, so that a repeated request creates nothing new. */
export const derivedId = <N extends Noun>(noun: N, scope: string, name: string): Id<N> =>
  `${prefixes[noun]}_${createHash('sha256').update(`${scope}\n${name}`).digest('hex').slice(0, 32)}`;
