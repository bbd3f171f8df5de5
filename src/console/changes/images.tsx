// An image before and after the change.
import { useEffect, useState } from 'preact/hooks';
import { changedFile, type DiffSide } from '../generated/documents.ts';
import { ask, problemOf } from '../kit/client.ts';
import type { FileChange } from './diff-parse.ts';

const types: Readonly<Record<string, string>> = {
  ...{
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    avif: 'image/avif',
  },
  ...{ svg: 'image/svg+xml', ico: 'image/x-icon', bmp: 'image/bmp' },
};
const typeOf = (path: string): string | undefined => types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];

export const isImage = ({ path, hunks }: FileChange): boolean => hunks.length === 0 && typeOf(path) !== undefined;

export function Images({ runId, file }: { runId: string; file: FileChange }) {
  const sides = (['old', 'new'] as const).filter(
    (side) => file.status !== (side === 'old' ? 'added' : 'deleted') && (side === 'new' || file.oldPath === null),
  );
  return (
    <div class="images">
      {sides.map((side) => (
        <Image key={`${side} ${file.digest}`} runId={runId} path={file.path} side={side} />
      ))}
    </div>
  );
}

const captions = { old: 'Before', new: 'After' } as const;

function Image({ runId, path, side }: { runId: string; path: string; side: DiffSide }) {
  const [address, setAddress] = useState<string | null>(null);
  const [said, say] = useState('Loading …');
  useEffect(() => {
    let isGone = false;
    let made: string | null = null;
    ask(changedFile, { runId, path, side })
      .then(({ changedFile: found }) => {
        if (isGone) return;
        if (found.base64 === null) return say('The source host does not have this version.');
        const content = Uint8Array.from(atob(found.base64), (character) => character.charCodeAt(0));
        made = URL.createObjectURL(new Blob([content], { type: typeOf(path)! }));
        setAddress(made);
      })
      .catch((error) => isGone || say(problemOf(error).description));
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, []);
  return (
    <figure>
      <figcaption class="muted small">{captions[side]}</figcaption>
      {address === null ? (
        <p class="muted small">{said}</p>
      ) : (
        <img src={address} alt={`${path}, ${captions[side].toLowerCase()}`} />
      )}
    </figure>
  );
}
