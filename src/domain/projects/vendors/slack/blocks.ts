// Messages in Slack's Block Kit (docs.slack.dev/block-kit). Text of agents and people is plain text, so that it cannot mention anybody or
// contain links.
import type { ChatMessage } from '../chat.ts';

/** Slack's maximum lengths, in characters. */
const limits = { section: 3_000, label: 75, value: 2_000, buttons: 25 } as const;

/** Slack interprets these characters as the start of mentions and links. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;

const plain = (text: string, max: number) => ({ type: 'plain_text', text: shortened(text, max), emoji: false });

/** Arguments of the methods that write a message. */
export function asArguments({ title, detail, link, buttons }: ChatMessage): { text: string; blocks: string } {
  const words = escaped(shortened(title, 1_000));
  const head = link ? `${words}\n<${encodeURI(link.url)}|${escaped(link.label)}>` : words;
  const blocks: object[] = [{ type: 'section', text: { type: 'mrkdwn', text: head } }];
  if (detail) blocks.push({ type: 'section', text: plain(detail, limits.section) });
  if (buttons.length > 0) {
    const elements = buttons.slice(0, limits.buttons).map(({ label, value, style }, i) => ({
      type: 'button',
      action_id: `decision-${i}`,
      text: plain(label, limits.label),
      value: value.slice(0, limits.value),
      ...(style && { style }),
    }));
    blocks.push({ type: 'actions', elements });
  }
  return { text: words, blocks: JSON.stringify(blocks) };
}
