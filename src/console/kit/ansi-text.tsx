// Text with the colors of a terminal.
import { partsOf } from './ansi.ts';

export const AnsiText = ({ text }: { text: string }) => (
  <>
    {partsOf(text).map(({ text: part, name }, i) =>
      name ? (
        <span key={i} class={name}>
          {part}
        </span>
      ) : (
        part
      ),
    )}
  </>
);
