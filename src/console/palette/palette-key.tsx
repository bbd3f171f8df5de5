// Opens the command palette and the list of keyboard shortcuts, and listens to the shortcuts of every page. The code of the palette and of
// the list is loaded when they are first opened.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { loaded } from '../kit/connection.tsx';
import { listenToGlobalKeys } from './everywhere-keys.ts';

type Shown = ComponentType<{ close(): void }>;

export function PaletteKey() {
  const [Shown, setShown] = useState<Shown | null>(null);
  const { route } = useLocation();
  useEffect(() => {
    const open = async (load: () => Promise<Shown>) => {
      const found = await loaded(load);
      setShown(() => found);
    };
    const palette = () => void open(async () => (await import('./palette.tsx')).Palette);
    const help = () => void open(async () => (await import('./key-help.tsx')).KeyHelp);
    const stop = listenToGlobalKeys(route, help);
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      palette();
    };
    const buttons = [
      ['.palette-button', palette],
      ['.help-button', help],
    ] as const;
    for (const [name, act] of buttons) {
      const button = document.querySelector<HTMLButtonElement>(name);
      if (button) button.hidden = false;
      button?.addEventListener('click', act);
    }
    addEventListener('keydown', onKey);
    return () => {
      for (const [name, act] of buttons) document.querySelector(name)?.removeEventListener('click', act);
      removeEventListener('keydown', onKey);
      stop();
    };
  }, []);
  return Shown && <Shown close={() => setShown(null)} />;
}
