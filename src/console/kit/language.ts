// Sets a valid language tag when the browser reports an invalid one: uPlot formats numbers by `navigator.language` as it loads and throws
// otherwise. Chromium reports `en-US@posix` under LANG=C.UTF-8. Imported before everything else.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
}
