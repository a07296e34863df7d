import type { DefaultPage } from './default-pages.ts';
import { OPEN_ACCESS, type PageAccess } from './page-access.ts';
import { PageClient, type PageLimits } from './page-request.ts';
import { systemsOf } from './recognize.ts';
import { parseTarget, type Target } from './targets.ts';

/** Short: the run waits for the slowest of the pages. */
const LIMITS: PageLimits = {
  connectTimeoutSeconds: 1,
  readTimeoutSeconds: 1,
  totalTimeoutSeconds: 2,
  maxBytes: 16 * 1024 * 1024,
};

/**
 * Requests each page once and returns those that serve the metrics of the expected system, or of any. The credentials are sent to
 * pages at the given origins only, which the user named.
 */
export async function discoverDefaultPages(
  pages: readonly DefaultPage[],
  origins: readonly string[],
  access: PageAccess,
): Promise<readonly { readonly page: DefaultPage; readonly target: Target }[]> {
  const now_ns = (): number => performance.now() * 1e6;
  const open: PageAccess = { ...OPEN_ACCESS, ...(access.proxies && { proxies: access.proxies }) };
  const clients = { open: new PageClient(LIMITS, now_ns, open), named: new PageClient(LIMITS, now_ns, access) };
  const isNamed = ({ url }: DefaultPage): boolean => origins.includes(new URL(url).origin);
  try {
    const found = await Promise.all(
      pages.map(async (page) => {
        const response = await clients[isNamed(page) ? 'named' : 'open'].get(page.url);
        const systems = response.kind === 'page' ? systemsOf(new TextDecoder().decode(response.bytes)) : [];
        if (page.system === null ? systems.length === 0 : !systems.includes(page.system)) return [];
        const target = { ...parseTarget(page.url), system: page.system, access: isNamed(page) ? access : open };
        return [{ page, target }];
      }),
    );
    return found.flat();
  } finally {
    await Promise.all([clients.open.close(), clients.named.close()]);
  }
}
