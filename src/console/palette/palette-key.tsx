// Opens the palette; its script is loaded at the first use.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loaded } from '../kit/connection.tsx';

export function PaletteKey() {
  const [Palette, setPalette] = useState<ComponentType<{ close(): void }> | null>(null);
  useEffect(() => {
    const open = async () => {
      const { Palette } = await loaded(() => import('./palette.tsx'));
      setPalette(() => Palette);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      void open();
    };
    const button = document.querySelector<HTMLButtonElement>('.palette-button');
    if (button) button.hidden = false;
    button?.addEventListener('click', open);
    addEventListener('keydown', onKey);
    return () => {
      button?.removeEventListener('click', open);
      removeEventListener('keydown', onKey);
    };
  }, []);
  return Palette && <Palette close={() => setPalette(null)} />;
}
