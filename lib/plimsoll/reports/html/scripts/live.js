// The page of `plimsoll serve`: how far the run is, its newer answers, and each volume's history.
(() => {
'use strict';

const EVERY_MS = 3000;
const AGAIN_MS = 15000;
const SCROLLED = 'plimsoll-scrolled';
const live = document.querySelector('#live');
const told = document.querySelector('#live-told');
const renew = document.querySelector('#live-renew');
const history = document.querySelector('#live-history');
const began = Date.now();

// Who types, has marked a text or reads one volume is not interrupted.
function isBusy() {
  const inside = document.activeElement;
  return (inside && inside.matches('input, select, textarea')) || String(getSelection()) !== ''
    || !document.querySelector('#volume').hidden;
}

function again() {
  try {
    sessionStorage.setItem(SCROLLED, String(scrollY));
  } catch { /* without storage the page begins at its top */ }
  location.reload();
}

function back() {
  let top = null;
  try {
    top = sessionStorage.getItem(SCROLLED);
    sessionStorage.removeItem(SCROLLED);
  } catch { /* as above */ }
  if (top === null) return;
  const count = document.querySelector('#count');
  const waiting = setInterval(() => {
    if (count && !count.textContent.includes(' of ')) return;
    clearInterval(waiting);
    scrollTo({ top: Number(top), behavior: 'instant' });
  }, 50);
}

async function look() {
  try {
    const answer = await fetch('/state.json', { cache: 'no-store' });
    const state = await answer.json();
    if (!answer.ok) throw new Error(state.told);
    if (told.textContent !== state.told) told.textContent = state.told;
    const newer = state.version !== live.dataset.version;
    renew.hidden = !newer;
    if (newer && !isBusy() && (!state.running || Date.now() - began > AGAIN_MS)) {
      again();
      return;
    }
  } catch {
    told.textContent = 'The server does not answer. Start it again with: plimsoll serve';
  }
  setTimeout(look, EVERY_MS);
}

function point() {
  const named = new URLSearchParams(location.hash.slice(1)).get('volume') || '';
  history.hidden = !/^[^/]+\/[^/]+\/[^/]+$/.test(named);
  history.href = `/volume/${named.split('/').map(encodeURIComponent).join('/')}`;
}

renew.addEventListener('click', again);
addEventListener('hashchange', point);
point();
back();
look();
})();
