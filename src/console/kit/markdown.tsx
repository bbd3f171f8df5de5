// Markdown that an agent wrote, as elements of the page: nothing in it is taken as HTML, no picture is loaded, and links lead only to the web or to email addresses. Loaded when it is first needed.
import { type MarkedToken, marked, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { ScrollBlock } from './scroll-block.tsx';

/** Maximum length of a text in characters. The parser takes quadratic time for hostile text. */
const maxCharacters = 30_000;
/** Maximum depth of nested elements. */
const deepest = 30;

export function Markdown({ text }: { text: string }) {
  let content: ComponentChildren;
  try {
    if (text.length <= maxCharacters) content = all(marked.lexer(text), 0);
  } catch {
    // Text that is nested too deep for the library is shown as plain text.
  }
  return content ? <div class="markdown">{content}</div> : <ScrollBlock>{text}</ScrollBlock>;
}

const all = (tokens: Token[] | undefined, depth: number): ComponentChildren =>
  tokens?.map((token, i) => <One key={i} token={token} depth={depth + 1} />);

function One({ token: unknown, depth }: { token: Token; depth: number }) {
  const token = unknown as MarkedToken;
  if (depth > deepest) return <>{token.raw}</>;
  switch (token.type) {
    case 'heading': {
      // Headings of the text rank below the heading of the card.
      const Heading = `h${Math.min(6, token.depth + 2)}` as 'h3';
      return <Heading>{all(token.tokens, depth)}</Heading>;
    }
    case 'paragraph':
      return <p>{all(token.tokens, depth)}</p>;
    case 'text':
      return <>{token.tokens ? all(token.tokens, depth) : decode(token.text)}</>;
    case 'escape':
      return <>{token.text}</>;
    case 'strong':
      return <strong>{all(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{all(token.tokens, depth)}</em>;
    case 'del':
      return <del>{all(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'code':
      return <ScrollBlock>{token.text}</ScrollBlock>;
    case 'blockquote':
      return <blockquote>{all(token.tokens, depth)}</blockquote>;
    case 'list': {
      const items = token.items.map((item, i) => <li key={i}>{all(item.tokens, depth)}</li>);
      return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'checkbox':
      return <>{token.checked ? '☑ ' : '☐ '}</>;
    case 'table':
      return <Table table={token} depth={depth} />;
    case 'link':
      return <Away href={token.href}>{all(token.tokens, depth)}</Away>;
    case 'image':
      return <Away href={token.href}>{`Picture: ${token.text || token.href}`}</Away>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return <>{token.raw}</>;
  }
}

const Table = ({ table, depth }: { table: Tokens.Table; depth: number }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.2, 2.1.1)
  <div class="wide" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {table.header.map(({ tokens }, i) => (
            <th key={i}>{all(tokens, depth)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, i) => (
          <tr key={i}>
            {row.map(({ tokens }, at) => (
              <td key={at}>{all(tokens, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** A link out of the console. Only absolute URLs become links: an agent must not make relative links into the console. */
function Away({ href, children }: { href: string; children: ComponentChildren }) {
  const isSafe = /^(https?:\/\/|mailto:)/i.test(href) && URL.canParse(href);
  if (!isSafe) return <>{children}</>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children}
    </a>
  );
}

/** Decodes character references one by one. The document that DOMParser creates runs no scripts and loads nothing. */
const decode = (text: string): string =>
  text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,31});/gi, (reference) => {
    const { textContent } = new DOMParser().parseFromString(reference, 'text/html').documentElement;
    return textContent ?? reference;
  });
