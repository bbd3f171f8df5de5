export function parseDocker(argv: readonly string[]): {
  command: string;
  /** Values by option; empty for one that is absent. */
  options: Record<string, (string | true)[]> & Record<'cap-add', (string | true)[]>;
  words: string[];
};
