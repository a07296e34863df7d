import { Html, html } from './html.ts';

/** Okabe and Ito's color-blind safe palette; lightened on a dark background. */
const COLORS = `
:root { color-scheme: light dark;
  --text: #16191d; --soft: #59636e; --line: #dde1e6; --grid: #e9ecef; --back: #f4f5f7; --card: #fff; --phase: #eef1f5;
  --c1: #0072b2; --c2: #d07c00; --c3: #c4420a; --c4: #00805c; --c5: #a3487e; --c6: #59636e;
  --good: #0b6b3a; --bad: #b3261e; --warn: #8a5a00; --bad-back: #fdecea; --warn-back: #fff5e0 }
@media (prefers-color-scheme: dark) { :root {
  --text: #e7eaee; --soft: #9ba5b0; --line: #323a44; --grid: #262d35; --back: #12161b; --card: #1a1f26; --phase: #20272f;
  --c1: #5db4ec; --c2: #f0b04d; --c3: #ff8a57; --c4: #43c59e; --c5: #e191bf; --c6: #9ba5b0;
  --good: #5fd39b; --bad: #ff8f86; --warn: #f3c063; --bad-back: #3a1d1b; --warn-back: #35290f } }`;

const PAGE = `
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums }
main { max-width: 1240px; margin: 0 auto; padding: 28px 24px 40px }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 2px; overflow-wrap: anywhere }
h2 { font-size: 17px; margin: 34px 0 10px } h3 { font-size: 15px; margin: 18px 0 8px }
p { margin: 0 0 8px }
code { font: 0.9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
.soft, .note { color: var(--soft) }
.note { font-size: 13px; max-width: 95ch }
.facts { display: flex; flex-wrap: wrap; gap: 4px 26px; margin: 12px 0 0; padding: 0; list-style: none; color: var(--soft); font-size: 14px }
.facts b { color: var(--text); font-weight: 600 } .facts b.good { color: var(--good) } .facts b.bad { color: var(--bad) } .facts b.warn { color: var(--warn) }
.status { display: inline-block; font-size: 13px; font-weight: 600; border: 1px solid currentColor; border-radius: 99px; padding: 0 9px; vertical-align: 4px; margin-left: 8px }
.good { color: var(--good) } .bad { color: var(--bad) } .warn { color: var(--warn) }
.alert { border-left: 4px solid var(--bad); background: var(--bad-back); border-radius: 4px; padding: 9px 14px; margin: 14px 0 0 }
.alert.mild { border-color: var(--warn); background: var(--warn-back) }`;

const TILES = `
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(228px, 1fr)); gap: 12px; margin-top: 22px }
.tile, figure, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px }
.tile { padding: 12px 12px 10px }
.tile h3 { font-size: 13px; font-weight: 600; color: var(--soft); margin: 0 0 6px }
.tile table { width: 100%; border-collapse: collapse }
.tile th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; padding: 1px 8px 1px 0; width: 1% }
.tile td { padding: 1px 0; white-space: nowrap }
.tile td:last-child { text-align: right; color: var(--soft); font-size: 11px; padding-left: 6px }
.tile .big { font-size: 17px; font-weight: 600; letter-spacing: -0.01em }
.tile .apart { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 8px; font-size: 11.5px }
.tile td b { font-weight: 600 }
.tile p { font-size: 12.5px; color: var(--soft); margin: 3px 0 0 } .tile p b, .tile p.big { color: var(--text) } .tile p.big { font-size: 20px; margin: 0 } .tile p.good { color: var(--good) } .tile p.bad { color: var(--bad) }`;

const FIGURES = `
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); gap: 12px }
figure { margin: 0; padding: 12px 14px 8px; min-width: 0 }
figcaption { font-size: 14px; line-height: 1.35 } figcaption span { color: var(--soft); font-size: 13px }
figure.empty p { color: var(--soft); margin: 10px 0 }
figure svg { width: 100%; height: auto; display: block; overflow: visible }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 5px 0 2px; padding: 0; font-size: 12.5px; color: var(--soft) }
.legend svg { width: 22px; height: 10px; display: inline-block; margin-right: 5px; vertical-align: 0 }
svg text { font-size: 12px; fill: var(--soft); font-family: inherit }
svg text.mark-label { fill: var(--text); paint-order: stroke; stroke: var(--card); stroke-width: 3px }
.grid { stroke: var(--grid); fill: none } .axis { stroke: var(--soft); fill: none }
.phase { fill: var(--phase) } .edge { stroke: var(--soft); stroke-dasharray: 2 3; fill: none }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round }
.line.thin { stroke-width: 1.2 } .line.dash { stroke-dasharray: 5 4 } .line.thick { stroke-width: 5; opacity: 0.35 }
.dots { fill: none; stroke-width: 3.2; stroke-linecap: round; opacity: 0.33 }
.bars { stroke: none; opacity: 0.85 }
.line.limit { stroke: var(--bad); stroke-dasharray: 7 4; stroke-width: 1.4 } svg text.mark-label.limit { fill: var(--bad) }
.line.frontier { stroke: var(--soft); stroke-width: 9; opacity: 0.3 } .legend .line.frontier { stroke-width: 7 }
.point { stroke-width: 1.8 } .point.hollow { fill: var(--card) !important } .mark { fill: none; stroke: var(--text); stroke-width: 1.5 } .mark.good { stroke: var(--good); stroke-width: 2 }
${[1, 2, 3, 4, 5, 6].map((n) => `.line.c${n}, .dots.c${n} { stroke: var(--c${n}) } .bars.c${n} { fill: var(--c${n}) } .point.c${n} { fill: var(--c${n}); stroke: var(--c${n}) }`).join('\n')}`;

const TABLES = `
.card { padding: 4px 14px; overflow-x: auto }
table.data { border-collapse: collapse; width: 100%; font-size: 13.5px }
.data th, .data td { text-align: right; padding: 6px 0 6px 12px; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap }
.data th:first-child, .data td:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 190px }
.card + .charts { margin-top: 12px } .card + .note { margin-top: 8px }
.data thead th { color: var(--soft); font-weight: 600; font-size: 12.5px }
.data tbody th { font-weight: 600 } .data a { color: inherit }
.data tr:last-child th, .data tr:last-child td { border-bottom: 0 }
.data small { display: block; color: var(--soft); font-size: 11.5px; font-weight: 400 }
.data td.text, .data th.text { text-align: left; white-space: normal }
.data td.text { overflow-wrap: anywhere; min-width: 12em }
.share { display: inline-block; height: 8px; background: var(--c3); border-radius: 2px; min-width: 1px }
.stack { display: flex; height: 22px; margin: 0 0 8px; border-radius: 3px; overflow: hidden } .stack span { min-width: 1px }
footer { margin-top: 36px; color: var(--soft); font-size: 13px; border-top: 1px solid var(--line); padding-top: 12px }`;

const NARROW = `
@media (max-width: 620px) { main { padding: 18px 12px 28px } h1 { font-size: 22px } .tiles { grid-template-columns: 1fr 1fr; gap: 8px }
  .tile { padding: 10px } .tile td:last-child, .tile .apart span:last-child { display: none } figure { padding: 10px 8px 6px } svg text { font-size: 17px } svg text.small-hidden { display: none } }`;

/** Light colors regardless of the screen, no element cut by a page break, tables as wide as the paper. */
const PRINT = `
@page { size: A4; margin: 12mm }
@media print { :root { color-scheme: light;
  --text: #000; --soft: #4a5058; --line: #c9ced4; --grid: #e3e6e9; --back: #fff; --card: #fff; --phase: #eef1f5;
  --c1: #0072b2; --c2: #d07c00; --c3: #c4420a; --c4: #00805c; --c5: #a3487e; --c6: #59636e;
  --good: #0b6b3a; --bad: #b3261e; --warn: #8a5a00; --bad-back: #fff; --warn-back: #fff }
  body { font-size: 10pt } main { max-width: none; padding: 0 } h2 { margin: 16pt 0 6pt; break-after: avoid }
  .tiles { grid-template-columns: repeat(3, 1fr) } .charts { grid-template-columns: 1fr 1fr; gap: 8pt }
  .note, figcaption, .legend { font-size: 8pt !important } figcaption span { font-size: 7.6pt } .tile p { font-size: 7.6pt } svg text { font-size: 15px } .facts { font-size: 9pt }
  figure, .tile, tr, .alert { break-inside: avoid } .card { overflow: visible; border: 0; padding: 0 }
  table.data { font-size: 7.6pt } .data th, .data td { padding: 3pt 0 3pt 6pt } .data small { font-size: 6.4pt } .data thead th { font-size: 7.4pt }
  .data td.text, .data th:first-child, .data td:first-child { min-width: 0 } }`;

const STYLE = new Html([COLORS, PAGE, TILES, FIGURES, TABLES, NARROW, PRINT].join('\n'));

/** No external resources and no scripts: the page is self-contained. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** A self-contained HTML page. */
export function documentOf(title: string, content: Html): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}" />
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `;
  return page.text;
}
