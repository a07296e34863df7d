import { posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/**
 * Turns links to files and folders that the site does not contain into links to the repository. Without its address they are
 * plain text.
 */
export function repositoryLinks(markdown: MarkdownRenderer, repositoryUrl: string | null): void {
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
