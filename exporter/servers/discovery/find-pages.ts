import { ConfigurationError } from '../../errors/configuration-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { PageClient, type PageLimits } from '../scrape/page-request.ts';
import { parseTarget, type Target } from '../scrape/targets.ts';
import { httpSdPages, MOST_PAGES } from './http-sd-pages.ts';
import { listPods } from './list-pods.ts';
import { searchName, type HttpSdSearch, type PageSearch, type PodSearch } from './page-search.ts';
import { pagesOfPods } from './pages-of-pods.ts';

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 10,
  totalTimeoutSeconds: 15,
  maxBytes: 4 * 1024 * 1024,
};
/** Names in a line of the terminal. */
const SHOWN = 8;

/** The pages that a search finds now; each is reported. Throws a `ConfigurationError` if there are none or too many. */
export async function findPages(search: PageSearch, say: (line: string) => void): Promise<readonly Target[]> {
  const found = search.kind === 'http-sd' ? await httpSdTargets(search) : await podTargets(search, say);
  if (found.length > MOST_PAGES) {
    throw new ConfigurationError(
      `--server-metrics ${searchName(search)}: ${found.length} metrics pages are more than ${MOST_PAGES}`,
    );
  }
  const names = found.map(({ label }) => label);
  say(
    `found ${found.length} metrics ${found.length === 1 ? 'page' : 'pages'} by ${searchName(search)}: ${listed(names)}`,
  );
  return found.map(({ url }) => parseTarget(url));
}

interface FoundPage {
  readonly url: string;
  readonly label: string;
}

async function podTargets(search: PodSearch, say: (line: string) => void): Promise<readonly FoundPage[]> {
  const pods = await listPods(search);
  const { pages, skipped } = pagesOfPods(pods);
  if (skipped.length > 0) say(`not read of ${searchName(search)}: ${listed(skipped)}`);
  if (pages.length === 0) {
    const reason =
      pods.length === 0 ? 'no pod matches' : `${pods.length} pods match, none of which is running with a metrics page`;
    throw new ConfigurationError(`--server-metrics ${searchName(search)}: ${reason}`);
  }
  return pages.map(({ pod, url }) => ({ url, label: `${pod} at ${publicUrl(url)}` }));
}

async function httpSdTargets(search: HttpSdSearch): Promise<readonly FoundPage[]> {
  const client = new PageClient(LIMITS, () => performance.now() * 1e6);
  const fail = (reason: string): ConfigurationError =>
    new ConfigurationError(`--server-metrics ${searchName(search)}: ${reason}`);
  try {
    const page = await client.get(search.url);
    if (page.kind !== 'page') throw fail(page.message);
    let urls: readonly string[];
    try {
      urls = httpSdPages(new TextDecoder().decode(page.bytes));
    } catch (error) {
      throw fail((error as Error).message);
    }
    if (urls.length === 0) throw fail('the response lists no target');
    return urls.map((url) => ({ url, label: publicUrl(url) }));
  } finally {
    await client.close();
  }
}

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
