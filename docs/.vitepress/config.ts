import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme, type MarkdownRenderer } from 'vitepress';

const docs = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  title: 'llmbench',
  description: 'Benchmarks LLM inference servers beside their own metrics, in Prometheus and Grafana',
  lang: 'en',
  outDir: '../.cache/site',
  cacheDir: '../.cache/site-build',
  // Where the site is served: `/` or, on a project's pages, `/<project>/`.
  base: process.env.LLMBENCH_SITE_BASE ?? '/',
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config: (markdown) => void markdown.use(repositoryLinks, process.env.LLMBENCH_REPOSITORY_URL ?? null),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: complete([
      { text: 'Start', items: [{ text: 'Introduction', link: '/' }, ...pages('.', ['faq.md', 'comparison.md'])] },
      { text: 'Tutorials', items: pages('tutorials') },
      {
        text: 'Guides',
        items: pages('guides', [
          ...[
            'run-a-benchmark.md',
            'conversations.md',
            'images-and-audio.md',
            'runs-and-queries.md',
            'import-results.md',
            'judge-production.md',
            'gate-a-ci-job.md',
            'a-bad-week.md',
            'prometheus.md',
          ],
          ...[
            'grafana.md',
            'watch-benchmarks.md',
            'share-runs.md',
            'operate.md',
            'kubernetes.md',
            'library.md',
            'coming-from-other-tools.md',
          ],
        ]),
      },
      {
        text: 'Reference',
        items: [
          ...pages('guides', ['measures.md', 'metrics.md', 'limits-and-truth.md']),
          ...pages('.', ['compatibility.md']),
        ],
      },
      { text: 'Architecture', items: pages('.', ['design.md', 'upstream-errata.md']) },
      { text: 'Runbooks', collapsed: true, items: pages('runbooks') },
    ]),
  },
});

/** The pages of a folder of `docs`, with their headings up to a colon; `names`: which ones, in their order. */
function pages(folder: string, names: readonly string[] = markdownFiles(folder)): DefaultTheme.SidebarItem[] {
  return names.map((name) => {
    const path = join(docs, folder, name);
    const text = /^# ([^:\n]+)/m.exec(readFileSync(path, 'utf8'))?.[1];
    if (text === undefined) throw new Error(`${path} has no heading`);
    return { text, link: `/${relative(docs, path).replace(/\.md$/, '')}` };
  });
}

/** Throws if a page is in no group. */
function complete(groups: DefaultTheme.SidebarItem[]): DefaultTheme.SidebarItem[] {
  const listed = new Set(groups.flatMap(({ items = [] }) => items.map(({ link }) => link)));
  const all = ['.', 'guides', 'tutorials', 'runbooks'].flatMap((folder) => pages(folder));
  const missing = all.flatMap(({ link = '' }) => (listed.has(link) || link === '/index' ? [] : [link]));
  if (missing.length > 0) throw new Error(`the sidebar does not list ${missing.join(', ')}`);
  return groups;
}

function markdownFiles(folder: string): readonly string[] {
  return readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md'));
}

/**
 * Turns links to files and folders that the site does not contain into links to the repository. Without its address they are
 * plain text.
 */
function repositoryLinks(markdown: MarkdownRenderer, repositoryUrl: string | null): void {
  markdown.core.ruler.push('repository-links', (state) => {
    const page: string = state.env.relativePath;
    for (const { children } of state.tokens) {
      const opened: boolean[] = [];
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const path = outsideOfSite(page, String(token.attrGet('href')));
          if (path !== null && repositoryUrl === null) token.tag = 'span';
          if (path !== null)
            token.attrs = repositoryUrl === null ? [] : [['href', `${repositoryUrl}/blob/main/${path}`]];
          opened.push(token.tag === 'span');
        }
        if (token.type === 'link_close' && opened.pop() === true) token.tag = 'span';
      }
    }
  });
}

/** The path in the repository of the file or folder that a link names; null if the site has it, or it is another address. */
function outsideOfSite(page: string, href: string): string | null {
  if (/^([a-z]+:|#|\/)/.test(href)) return null;
  const path = posix.join('docs', posix.dirname(page), href);
  const isPage = path.startsWith('docs/') && /\.\w+(#.*)?$/.test(path);
  return isPage ? null : path;
}
