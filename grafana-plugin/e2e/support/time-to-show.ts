import type { Page } from '@playwright/test';

/** Notes from the page's start on when the selector first matches, and when the frame with it has been painted. */
export async function watchFor(page: Page, selector: string): Promise<void> {
  await page.addInitScript((wanted) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(wanted)) {
        observer.disconnect();
        // After the paint, and after what else waits: from then on the page answers to the reader.
        requestAnimationFrame(() => setTimeout(() => Object.assign(window, { shownAtMs: performance.now() })));
      }
    });
    observer.observe(document, { childList: true, subtree: true });
  }, selector);
}

/** Milliseconds from the arrival of the response to the request that matches `url`, until what is watched for was shown. */
export async function msFromArrival(page: Page, url: RegExp): Promise<number> {
  const shown = await page.waitForFunction(() => (window as { shownAtMs?: number }).shownAtMs);
  const shownAtMs = await shown.jsonValue();
  const resources = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((one) => ({
      name: one.name,
      arrivedAtMs: (one as PerformanceResourceTiming).responseEnd,
    }))
  );
  const first = resources.find(({ name }) => url.test(name));
  if (!first || shownAtMs === undefined) {
    throw new Error(`no answer to ${url} among ${resources.map(({ name }) => name).join(' ')}`);
  }
  return shownAtMs - first.arrivedAtMs;
}
