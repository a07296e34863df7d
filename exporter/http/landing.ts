import { ownValue } from '../../core/text/own-value.ts';
import type { Request, RequestHandler } from 'express';
import type { Html } from '../report/html.ts';

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
