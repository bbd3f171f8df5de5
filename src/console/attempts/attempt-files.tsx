// The files that attempts change. Files that several attempts change come first.
import { Card } from '../kit/pieces.tsx';
import { ScrollTable, TableHead } from '../kit/scroll-block.tsx';
import { plural, visible } from '../kit/words.tsx';
import type { Attempt } from './group.ts';

/** Maximum number of rows of the table. */
const maxShown = 200;

export function AttemptFiles({ attempts }: { attempts: readonly Attempt[] }) {
  const counted = attempts.filter(({ changedPaths }) => changedPaths !== null);
  const numbers = new Map<string, number[]>();
  for (const { number, changedPaths } of counted)
    for (const path of changedPaths!) numbers.set(path, [...(numbers.get(path) ?? []), number]);
  const files = [...numbers].sort(([a, inA], [b, inB]) => inB.length - inA.length || (a < b ? -1 : 1));
  if (files.length === 0) return null;
  const common = files.filter(([, of]) => of.length === counted.length).length;
  return (
    <Card title="Files" aside={`${plural(files.length, 'file')}, ${common} in common`}>
      <ScrollTable label="Changed files of each attempt">
        <table class="attempt-files">
          <TableHead columns={['File', ...counted.map(({ number }) => ({ number: `Attempt ${number}` }))]} />
          <tbody>
            {files.slice(0, maxShown).map(([path, of]) => (
              <tr key={path}>
                <th scope="row">
                  <code>{visible(path)}</code>
                </th>
                {counted.map(({ number }) => (
                  <td key={number} class="number">
                    {of.includes(number) ? 'changed' : <span class="muted">–</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollTable>
      {files.length > maxShown && <p class="muted small">{plural(files.length - maxShown, 'more file')} not shown.</p>}
    </Card>
  );
}
