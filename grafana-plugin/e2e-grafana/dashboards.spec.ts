import { type APIRequestContext, expect, type Page } from '@playwright/test';
import { newestTime, test } from './grafana.ts';

const SYSTEMS = ['vllm', 'sglang', 'trtllm', 'triton', 'dynamo'];
/** The dashboards of the project, and those that come with the app. */
const UIDS = [
  ...['benchmark', 'history', 'client-vs-server', 'generic', 'panels', 'kvbm', 'llm-d-epp', ...SYSTEMS],
  ...['benchmark', ...SYSTEMS].map((name) => `${name}-app`),
].map((name) => `llmbench-${name}`);

interface Panel {
  id: number;
  type: string;
  title: string;
  repeat?: string;
}

/**
 * The panels that a dashboard shows when it is opened. Rows are none, what a closed one holds is not shown, and a panel
 * that is repeated for each value of a variable is there only when that has values.
 */
async function shownPanels(request: APIRequestContext, uid: string): Promise<Panel[]> {
  const response = await request.get(`/api/dashboards/uid/${uid}`);
  expect([uid, response.status()]).toEqual([uid, 200]);
  const { dashboard }: { dashboard: { panels: Panel[] } } = await response.json();
  const repeatedRow = dashboard.panels.findIndex(({ type, repeat }) => type === 'row' && repeat);
  const sure = repeatedRow < 0 ? dashboard.panels : dashboard.panels.slice(0, repeatedRow);
  return sure.filter(({ type, repeat }) => type !== 'row' && !repeat);
}

const FAILED = /plugin not found|An unexpected error happened|Failed to load/i;

/** Scrolls through the page; what is drawn on the way, and what failed to be. */
async function scrollThrough(page: Page): Promise<{ drawn: Set<number>; failed: string[] }> {
  const drawn = new Set<number>();
  const failed = new Set<string>();
  const panels = page.locator('[data-viz-panel-key]');
  await expect(panels.first()).toBeVisible();
  for (let top = 0, end = false; !end; top += 450) {
    end = await page.evaluate((y) => {
      window.scrollTo(0, y);
      return y + window.innerHeight >= document.documentElement.scrollHeight;
    }, top);
    // Panels that have left the view are drawn again.
    await page.waitForTimeout(top === 0 ? 2000 : 800);
    await expect(page.getByLabel('Panel loading bar')).toHaveCount(0);
    for (const [key, text, hasError] of await panels.evaluateAll((elements) =>
      elements.map((element): [string, string, boolean] => [
        element.getAttribute('data-viz-panel-key') ?? '',
        element.textContent ?? '',
        element.querySelector('[data-testid="data-testid Panel status error"]') !== null,
      ])
    )) {
      drawn.add(Number(/panel-(\d+)/.exec(key)?.[1]));
      if (hasError || FAILED.test(text)) {
        failed.add(`${key}: ${text.slice(0, 200)}`);
      }
    }
  }
  return { drawn, failed: [...failed] };
}

for (const uid of UIDS) {
  test(`${uid}: provisioned, and every panel draws`, async ({ gotoDashboardPage, page, request }) => {
    const wanted = await shownPanels(request, uid);
    const dashboard = await gotoDashboardPage({ uid, timeRange: await newestTime(request) });
    // Panels query when they come into view.
    await dashboard.waitForPanelsQueriesToComplete({ scrollAll: true });
    const first = await scrollThrough(page);
    await page.screenshot({ path: `screenshots/grafana-${uid}.png`, fullPage: true });
    // A page takes a while to draw what has come into view, and a busy machine longer: what was passed by is looked at again.
    const isComplete = wanted.every(({ id }) => first.drawn.has(id));
    const second = isComplete ? first : await scrollThrough(page);
    expect([...first.failed, ...second.failed]).toEqual([]);
    expect(wanted.filter(({ id }) => !first.drawn.has(id) && !second.drawn.has(id)).map(({ title }) => title)).toEqual(
      []
    );
  });
}

test('runs are regions in the percentiles panel', async ({ gotoDashboardPage, page, request }) => {
  await gotoDashboardPage({ uid: 'llmbench-benchmark-app', timeRange: await newestTime(request) });
  await expect(page.locator('[data-region^="run "]').first()).toBeAttached();
});
