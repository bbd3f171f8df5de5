// The files of a change as a tree. A folder that contains only one folder shares its line.
import { useMemo, useState } from 'preact/hooks';
import { visible } from '../kit/words.tsx';
import type { FileChange } from './diff-parse.ts';
import { anchorOf } from './file-diff.tsx';

interface Folder {
  folders: Map<string, Folder>;
  files: FileChange[];
}

interface Properties {
  files: readonly FileChange[];
  isViewed(file: FileChange): boolean;
  /** Number of unresolved comments, including those of the draft. */
  commentsOn(path: string): number;
}

/** Maximum number of files; with more, folders are folded at first, and rendered when they are opened. */
const maxUnfoldedFiles = 200;

export function FileTree({ files, ...marks }: Properties) {
  const root = useMemo(() => treeOf(files), [files]);
  return <Level folder={root} isOpen={files.length <= maxUnfoldedFiles} {...marks} />;
}

function treeOf(files: readonly FileChange[]): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of files) {
    let folder = root;
    for (const name of file.path.split('/').slice(0, -1)) {
      const inner = folder.folders.get(name) ?? { folders: new Map(), files: [] };
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.push(file);
  }
  return root;
}

/** The last folder in a chain of folders that each contain only one folder, and the names in the chain. */
function chained(name: string, folder: Folder): [string, Folder] {
  const [only] = folder.folders;
  return only && folder.folders.size === 1 && folder.files.length === 0
    ? chained(`${name}/${only[0]}`, only[1])
    : [name, folder];
}

interface LevelProperties extends Omit<Properties, 'files'> {
  folder: Folder;
  isOpen: boolean;
}

function Branch({ name, ...level }: LevelProperties & { name: string }) {
  const [isShown, setShown] = useState(level.isOpen);
  return (
    <details open={isShown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>{visible(name)}</summary>
      {isShown && <Level {...level} />}
    </details>
  );
}

function Level({ folder, isOpen, isViewed, commentsOn }: LevelProperties) {
  return (
    <ul class="tree">
      {[...folder.folders].map(([name, inner]) => {
        const [names, last] = chained(name, inner);
        return (
          <li key={name}>
            <Branch name={names} folder={last} {...{ isOpen, isViewed, commentsOn }} />
          </li>
        );
      })}
      {folder.files.map((file) => {
        const comments = commentsOn(file.path);
        return (
          <li key={file.path} class={isViewed(file) ? 'is-viewed' : ''}>
            <a href={`#${anchorOf(file.path)}`}>
              <bdi class="tree-name">{visible(file.path.slice(file.path.lastIndexOf('/') + 1))}</bdi>
              {isViewed(file) && <span class="unseen"> (viewed)</span>}
              {comments > 0 && (
                <span class="tree-comments" title="Comments">
                  {comments}
                  <span class="unseen"> comments</span>
                </span>
              )}
              <span class="counts">
                <span class="added">+{file.insertions}</span> <span class="removed">−{file.deletions}</span>
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
