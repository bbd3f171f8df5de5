// The title of the tab: the page's own, after the number of items in the inbox.

let [title, count] = ['', 0];
const write = () => {
  document.title = `${count > 0 ? `(${countWords(count)}) ` : ''}${title} · Agent Engineering Platform`;
};

/** The number as text: `99+` above 99. */
export const countWords = (items: number): string => (items > 99 ? '99+' : String(items));

export function setTitle(to: string): void {
  title = to;
  write();
}

export function setTitleCount(to: number): void {
  count = to;
  if (title) write();
}
