// An icon next to a word. The word is the name of the icon.
import { type IconName, icons } from '../../surfaces/console/icons.ts';

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={icons[name]} />
  </svg>
);
