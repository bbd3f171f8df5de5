// Collects the findings of a verification; consecutive entries become one range.

/** Maximum number of findings that are listed one by one; further ones are counted, but not listed. */
const maxNamed = 100;

const texts = {
  edited: ['was edited', 'were edited'],
  missing: ['is missing', 'are missing'],
  added: ['was added', 'were added'],
  unhashed: ['has no hash in the tree', 'have no hash in the tree'],
} as const;
export type FindingKind = keyof typeof texts;

export function openFindings() {
  const ranges: { kind: FindingKind; first: number; last: number }[] = [];
  const others: string[] = [];
  return {
    entry(kind: FindingKind, number: number): void {
      const open = ranges.findLast((range) => range.kind === kind);
      if (open?.last === number - 1) open.last = number;
      else ranges.push({ kind, first: number, last: number });
    },
    add: (text: string): void => void others.push(text),
    /** The findings as sentences: at most a hundred, and one more with the number of further findings. */
    list(): string[] {
      const all = [
        ...ranges.map(({ kind, first, last }) =>
          first === last ? `Entry ${first} ${texts[kind][0]}.` : `Entries ${first} to ${last} ${texts[kind][1]}.`,
        ),
        ...others,
      ];
      return all.length <= maxNamed ? all : [...all.slice(0, maxNamed), `${all.length - maxNamed} more findings.`];
    },
  };
}

export type Findings = ReturnType<typeof openFindings>;
