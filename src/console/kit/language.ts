// Gives the browser a valid language tag where it reports none: uPlot formats numbers by `navigator.language` as it loads and
// throws otherwise. Chromium reports `en-US@posix` under LANG=C.UTF-8. Imported before everything else.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
}
