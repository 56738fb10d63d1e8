// Keeps the numbers of a page current: one stream per page, closed while nobody looks and while
// rows are ticked. What the operator reads never moves: numbers change in their places, what is
// new is counted on a link, and drawings are replaced by drawings of the same size.
const root = document.documentElement;
const status = document.getElementById('live');
const LONGEST_WAIT = 30_000;
const CHARTS_PAUSE = 15_000;

let source = null;
let again = 0;
let failures = 0;
let charts = { shown: undefined, at: Date.now(), busy: false };

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const ticked = () => document.querySelector('input[name="item"]:checked') !== null;

function say(state, words) {
  if (!status) return;
  status.hidden = false;
  status.dataset.state = state;
  const text = status.querySelector('.live-t');
  if (text.textContent !== words) text.textContent = words;
}

function close() {
  source?.close();
  source = null;
  clearTimeout(again);
  again = 0;
}

function open() {
  source = new EventSource(root.dataset.events);
  source.addEventListener('snapshot', (event) => {
    failures = 0;
    show(JSON.parse(event.data));
  });
  source.addEventListener('error', () => {
    close();
    say('away', 'Reconnecting');
    const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** failures) * (0.5 + Math.random() / 2);
    failures += 1;
    again = setTimeout(() => {
      again = 0;
      follow();
    }, wait);
  });
}

// Opens or closes the stream as the page now is.
function follow() {
  if (document.hidden || ticked()) {
    close();
    say('paused', 'Paused');
  } else if (!source && !again) {
    open();
  }
}

function show(now) {
  if (now.trouble) say('away', 'Database away');
  else say('live', 'Live');
  status?.setAttribute('title', now.trouble ?? 'Jobs by state, counted once for all viewers');
  for (const [name, figure] of Object.entries(now.figures)) change(name, figure);
  for (const [name, at] of Object.entries(now.times)) {
    if (!at) continue;
    for (const time of all(`time[data-live-at="${name}"]`)) time.setAttribute('datetime', at);
  }
  arrived(now.new);
  progress(now.collecting);
  redraw(now.charts);
}

function change(name, figure) {
  for (const call of all(`[data-live-call="${name}"]`)) call.hidden = !(Number(figure.value) > 0);
  for (const element of all(`[data-live="${name}"]`)) {
    if (element.textContent !== figure.text) element.textContent = figure.text;
    if (!element.dataset.figure) continue;
    set(element, 'data-value', figure.value);
    set(element, 'data-numerator', figure.numerator);
    set(element, 'data-denominator', figure.denominator);
    set(element, 'data-as-of', figure.as_of);
    element.closest('dd')?.classList.toggle('bad', figure.bad);
  }
  for (const more of all(`[data-live-more="${name}"]`)) {
    if (more.textContent !== figure.more) more.textContent = figure.more;
  }
}

function set(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

// How many jobs came into the list since the page was made: on a link, never into the list.
function arrived(fresh) {
  for (const chip of all('[data-live-new]')) {
    const jobs = fresh?.jobs ?? 0;
    chip.toggleAttribute('data-on', jobs > 0);
    if (jobs === 0) continue;
    const number = jobs.toLocaleString('en');
    const text = `+${number}${fresh.at_least ? ' or more' : ''} ${chip.dataset.liveNew}`;
    if (chip.textContent !== text) chip.textContent = text;
  }
}

function progress(collecting) {
  for (const element of all('[data-live-collecting]')) {
    const words = element.querySelector('span');
    const bar = element.querySelector('progress');
    words.textContent = collecting.words ?? 'All history is read.';
    if (bar) bar.value = collecting.words ? (collecting.percent ?? bar.value) : 100;
  }
}

// Replaces the drawings by newer ones, but for those that somebody points at or reads into.
async function redraw(version) {
  const place = document.querySelector('[data-charts]');
  if (!place || !version || charts.busy) return;
  charts.shown ??= place.dataset.version;
  if (charts.shown === version || Date.now() - charts.at < CHARTS_PAUSE) return;
  charts.busy = true;
  charts.at = Date.now();
  try {
    const answer = await fetch(place.dataset.charts);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    let skipped = false;
    for (const fresh of all('[data-part]', page)) {
      const old = place.querySelector(`[data-part="${fresh.dataset.part}"]`);
      if (!old) continue;
      if (old.matches(':hover') || old.contains(document.activeElement)) {
        skipped = true;
        continue;
      }
      all('details', old).forEach((details, index) => {
        const same = all('details', fresh)[index];
        if (same) same.open = details.open;
      });
      old.replaceWith(fresh);
    }
    const needs = page.querySelector('[data-needs]')?.dataset.needs;
    for (const chip of all('[data-live-needs]')) {
      chip.toggleAttribute('data-on', needs !== undefined && needs !== chip.dataset.liveNeeds);
    }
    if (!skipped) charts.shown = version;
  } catch {
    // The next event tries again.
  } finally {
    charts.busy = false;
  }
}

document.addEventListener('visibilitychange', follow);
// Boxes are ticked by scripts too, after the event that asked for it.
document.addEventListener('change', () => setTimeout(follow));
document.addEventListener('click', () => setTimeout(follow));
addEventListener('pagehide', close);
addEventListener('pageshow', (event) => event.persisted && follow());
follow();
