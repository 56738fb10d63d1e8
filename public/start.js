// Wakes the islands of a page. Loads nothing where there are none; says `data-hydrated` on <html>
// when every one of them answers.
const script = document.querySelector('script[data-wasm]');
const root = document.documentElement;

async function start() {
  const app = await import(script.dataset.js);
  await app.default({ module_or_path: script.dataset.wasm });
  app.hydrate();
  // Outer islands come before the ones inside of them, as document order has it.
  for (const island of document.querySelectorAll('leptos-island')) {
    app[island.dataset.component]?.(island);
  }
  root.dataset.hydrated = '';
}

if (document.querySelector('leptos-island')) {
  const soon = window.requestIdleCallback ?? ((run) => setTimeout(run, 1));
  soon(() => start().catch((error) => console.error('The page works without its extras:', error)));
}
