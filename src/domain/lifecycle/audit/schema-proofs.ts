// Checkpoints and proofs of the audit log in all APIs.
import { z } from 'zod';
import { verifierKey } from '#foundation/merkle/checkpoints.ts';
import { builder } from '#graph/builder.ts';
import { toOne } from '#graph/context.ts';
import { epochMs, members, safeInt, string, stringOrNull, strings } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { pages } from '#limits.ts';
import { type PublishedKey, publishedKeys } from './tree/keys.ts';
import { AuditCheckpoint } from './tree/model.ts';
import * as proofs from './tree/proofs.ts';

const keysOf = toOne<PublishedKey>(publishedKeys, ({ id }) => id);

const CheckpointType = builder.modelType(AuditCheckpoint, 'AuditCheckpoint').implement({
  description:
    'The signed state of an audit log. If a log does not begin with the signed entries, it was changed. The service signs a ' +
    'checkpoint every hour; after thirty days, it keeps only the first checkpoint of each day.',
  fields: (t) =>
    members(t, {
      id: string('The id.'),
      size: safeInt('The number of signed entries. It equals the `number` of the last of them.'),
      rootHash: string('The root hash of the Merkle tree of these entries (RFC 6962), in base64.'),
      algorithm: string('The algorithm of the signature: `ed25519`.'),
      keyId: string('The id of the key, among those at `/.well-known/audit-keys.json`.'),
      verifierKey: t.string({
        description: 'The key in the format that verifiers of signed notes expect: name, hash and public key.',
        resolve: async ({ keyId, note }, _, context) => {
          const key = (await keysOf(context).load(keyId))!;
          return verifierKey(note.slice(0, note.indexOf('\n')), Buffer.from(key.publicKey, 'base64'));
        },
      }),
      note: string('The checkpoint as a signed note (C2SP tlog-checkpoint), to be kept elsewhere.'),
      createdAt: epochMs('When the checkpoint was signed.'),
    }),
});

builder.queryField('auditCheckpoints', (t) =>
  t.field({
    description: 'The signed checkpoints of the audit log of the organization.',
    scope: 'audit:read',
    rest: 'GET /audit-checkpoints',
    type: pageOf('AuditCheckpointPage', CheckpointType, 'Newest first.'),
    args: pageArguments(pages.other),
    resolve: (_, args, { caller }) => proofs.listCheckpoints(caller, args),
  }),
);

const Entry = builder.objectRef<proofs.TreeEntry>('AuditEntry').implement({
  description: 'An event of the audit log, with its leaf in the Merkle tree.',
  fields: (t) =>
    members(t, {
      number: safeInt('The number of the event.'),
      entry: stringOrNull(
        'The event as canonical JSON (RFC 8785), whose bytes are the leaf; null once the event was deleted because of its age.',
      ),
      leafHash: string('The hash of the leaf, in base64.'),
    }),
});

builder.queryField('auditEntries', (t) =>
  t.field({
    description: 'The leaves of the audit log of the organization, for a copy that `aep audit verify` checks.',
    scope: 'audit:read',
    type: pageOf('AuditEntryPage', Entry, 'Oldest first.'),
    args: pageArguments(pages.other),
    resolve: (_, args, { caller }) => proofs.listEntries(caller, args),
  }),
);

const size = { type: 'SafeInt', validate: { schema: z.int().min(0) } } as const;

const EventProof = builder.objectRef<proofs.EventProof>('AuditEventProof').implement({
  description: 'A proof that an event is in the audit log (RFC 6962 section 2.1.1).',
  fields: (t) =>
    members(t, {
      number: safeInt('The number of the event. Its leaf has the index `number - 1`.'),
      size: safeInt('The number of entries of the tree.'),
      entry: stringOrNull(
        'The event as canonical JSON (RFC 8785), whose bytes are the leaf; null once the event was deleted because of its age.',
      ),
      leafHash: string('The hash of the leaf, in base64.'),
      rootHash: string('The root hash of the tree, in base64; equal to that of a checkpoint of this size.'),
      hashes: strings('The audit path from the leaf to the root, in base64.'),
    }),
});

builder.queryField('auditEventProof', (t) =>
  t.field({
    description: 'Proves that an event is in the audit log of the organization.',
    scope: 'audit:read',
    rest: 'GET /audit-events/{number}/proof',
    type: EventProof,
    args: {
      number: t.arg({ ...size, required: true, description: 'The number of the event.' }),
      size: t.arg({
        ...size,
        description:
          'The number of leaves of the tree that the proof is about, such as the size that a checkpoint states. The proof shows that ' +
          'this tree contains the event. Must be at least `number`; absent means the whole tree.',
      }),
    },
    resolve: (_, args, { caller }) => proofs.proveEvent(caller, args),
  }),
);

const Consistency = builder.objectRef<proofs.Consistency>('AuditConsistencyProof').implement({
  description: 'A proof that a tree of the audit log begins with an earlier one (RFC 6962 section 2.1.2).',
  fields: (t) =>
    members(t, {
      first: safeInt('The number of entries of the earlier tree.'),
      second: safeInt('The number of entries of the later tree.'),
      firstRootHash: string('The root hash of the earlier tree, in base64.'),
      secondRootHash: string('The root hash of the later tree, in base64.'),
      hashes: strings('The hashes of the proof, in base64.'),
    }),
});

builder.queryField('auditConsistencyProof', (t) =>
  t.field({
    description:
      'Proves that the audit log of the organization has only grown between two sizes, such as those of two checkpoints.',
    scope: 'audit:read',
    rest: 'GET /audit-checkpoints/consistency',
    type: Consistency,
    args: {
      first: t.arg({ ...size, required: true, description: 'The number of entries of the earlier tree.' }),
      second: t.arg({
        ...size,
        required: true,
        description: 'The number of entries of the later tree, at most the total number of entries.',
      }),
    },
    resolve: (_, args, { caller }) => proofs.proveConsistency(caller, args),
  }),
);
