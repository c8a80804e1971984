'use strict';
// What all pages of --html share: the record, numbers as text, and how elements are made.
const record = JSON.parse(document.getElementById('record').textContent);
const $ = (id) => document.getElementById(id);
const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
const count = (n) => grouped.format(n ?? 0);
const percent = (f) => `${Math.round(100 * f)} %`;
const sum = (list) => list.reduce((a, b) => a + b, 0);

function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'style') node.style.cssText = value;
    else if (value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.filter((c) => c !== undefined && c !== null));
  return node;
}
function s(tag, attributes = {}, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
function fill(id, ...children) { $(id).replaceChildren(...children.filter(Boolean)); }
const bytes = (n) => (n >= 2 ** 20 ? `${+(n / 2 ** 20).toFixed(1)} MiB` : n >= 1024 ? `${+(n / 1024).toFixed(1)} KiB` : `${n} B`);

