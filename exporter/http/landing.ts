import type { Request, RequestHandler } from 'express';
import type { KeyNumbers, RunSummary } from '../../core/api/runs.ts';
import { shortTitle } from '../../core/measures/names.ts';
import { countOf, OUTCOMES } from '../../core/run/record.ts';
import type { Unit } from '../../core/run/statistic.ts';
import { ownValue } from '../../core/text/nearest-names.ts';
import { things, quantity } from '../../core/text/quantities.ts';
import { html, type Html } from '../report/html.ts';

export interface LandingLink {
  readonly path: string;
  readonly text: string;
}

export interface LandingPage {
  readonly title: string;
  readonly intro: string;
  readonly links: readonly LandingLink[];
  readonly version: string;
  /** HTML between the intro and the links, generated for each request. */
  readonly content?: (request: Request) => Promise<Html>;
}

/** `GET /`: a self-contained page that describes the process and links its endpoints. */
export function landingRoute(page: LandingPage): RequestHandler {
  return async (request, response) => {
    const content = (await page.content?.(request))?.text ?? '';
    response.set('Content-Security-Policy', PAGE_POLICY);
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });
    response.type('text/html').send(landingHtml(page, content));
  };
}

/** No external resources, no scripts, no framing by other pages. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function landingHtml({ title, intro, links, version }: LandingPage, content: string): string {
  const items = links.map(
    ({ path, text }) =>
      `      <li><a href="${escapeHtml(path.slice(1))}"><code>${escapeHtml(path)}</code><span>${escapeHtml(text)}</span></a></li>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <h1>${escapeHtml(title)}</h1>
      <p>${escapeHtml(intro)}</p>
${content}
      <ul>
${items.join('\n')}
      </ul>
      <footer>llmbench ${escapeHtml(version)}</footer>
    </main>
  </body>
</html>
`;
}

const STYLE = `
      :root { color-scheme: light dark; --text: #1b1f24; --soft: #5b6570; --line: #d9dee4; --back: #f6f7f9; --card: #fff; --link: #0b5cad; }
      @media (prefers-color-scheme: dark) {
        :root { --text: #e6e9ed; --soft: #9aa5b1; --line: #2f3740; --back: #14181d; --card: #1b2027; --link: #6cb6ff; }
      }
      body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
      main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
      h1 { margin: 0 0 .25rem; font-size: 1.75rem; }
      p { margin: 0 0 1.5rem; color: var(--soft); }
      ul { margin: 0; padding: 0; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
      li + li { border-top: 1px solid var(--line); }
      a { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: .75rem 1rem; color: inherit; text-decoration: none; }
      a:hover code, a:focus-visible code { text-decoration: underline; }
      code { flex: 0 0 8rem; color: var(--link); font: 600 .95rem ui-monospace, monospace; }
      span { flex: 1 1 16rem; }
      .runs { overflow-x: auto; margin: 0 calc(50% - min(46vw, 38rem)) 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
      table { width: 100%; border-collapse: collapse; font-size: .875rem; white-space: nowrap; }
      caption { padding: .75rem; text-align: left; color: var(--soft); }
      th, td { padding: .4rem .75rem; text-align: left; border-top: 1px solid var(--line); }
      th { color: var(--soft); font-weight: 600; }
      .n { text-align: right; font-variant-numeric: tabular-nums; }
      td a { display: inline; padding: 0; color: var(--link); }
      td a:hover, td a:focus-visible { text-decoration: underline; }
      footer { margin-top: 1.5rem; color: var(--soft); font-size: .875rem; }
    `;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ownValue(ENTITIES, character) ?? character);
}

const MAX_RUNS = 50;

/** A numeric column. */
interface NumberColumn {
  readonly head: string;
  readonly unit: Unit;
  readonly value: (numbers: KeyNumbers) => number | null | undefined;
}

const COLUMNS: readonly NumberColumn[] = [
  { head: shortTitle('time_to_first_token', 'p50'), unit: 'seconds', value: (n) => n.time_to_first_token_seconds?.p50 },
  { head: shortTitle('time_to_first_token', 'p99'), unit: 'seconds', value: (n) => n.time_to_first_token_seconds?.p99 },
  { head: shortTitle('inter_token_latency', 'p50'), unit: 'seconds', value: (n) => n.inter_token_latency_seconds?.p50 },
  { head: 'latency p99', unit: 'seconds', value: (n) => n.request_latency_seconds?.p99 },
  { head: 'output', unit: 'tokens_per_second', value: (n) => n.output_token_throughput },
  { head: 'errors', unit: 'ratio', value: (n) => n.error_ratio },
];

/** The newest runs for users without Grafana, each with a link to its report. */
export function runsTable(runs: readonly RunSummary[]): Html {
  if (runs.length === 0) return html`<p>No runs yet.</p>`;
  const shown = runs.slice(0, MAX_RUNS);
  const differ = new Set(shown.map(({ dataset }) => dataset)).size > 1;
  const older = runs.length - shown.length;
  return html`<div class="runs" tabindex="0">
    <table>
      <caption>
        ${things(runs.length, 'runs')}, newest
        first${older > 0 ? html`; ${older} older runs are available from the API` : null}
      </caption>
      <thead>
        <tr>
          <th>start (UTC)</th>
          <th>scenario</th>
          <th>model</th>
          <th>load</th>
          ${differ ? html`<th>dataset</th>` : null}
          <th>system</th>
          <th>status</th>
          <th class="n">requests</th>
          ${COLUMNS.map(({ head }) => html`<th class="n">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${shown.map((run) => row(run, differ))}
      </tbody>
    </table>
  </div>`;
}

function row(run: RunSummary, withDataset: boolean): Html {
  const { run_id, start, scenario, model, load, system, status, numbers } = run;
  const when = start === null ? run_id : start.slice(0, 19).replace('T', ' ');
  const name = status === 'running' ? html`${when}` : html`<a href="runs/${run_id}" title="${run_id}">${when}</a>`;
  const cells = COLUMNS.map(
    ({ unit, value }) => html`<td class="n">${quantity(numbers === null ? null : value(numbers), unit)}</td>`,
  );
  return html`<tr>
    <td>${name}</td>
    <td>${scenario}</td>
    <td>${model ?? '–'}</td>
    <td>${load ?? '–'}</td>
    ${withDataset ? html`<td>${run.dataset ?? '–'}</td>` : null}
    <td>${system ?? '–'}</td>
    <td>${statusText(run)}</td>
    <td class="n">${requestsText(run)}</td>
    ${cells}
  </tr> `;
}

function statusText({ status, numbers }: RunSummary): string {
  return numbers?.client_verdict === 'saturated' ? `${status}, client saturated` : status;
}

function requestsText({ numbers, progress }: RunSummary): string {
  if (numbers !== null) return String(countOf(numbers.requests, OUTCOMES) ?? '–');
  if (progress === null) return '–';
  return `${progress.requests_done}${progress.requests_planned === null ? '' : ` of ${progress.requests_planned}`}`;
}
