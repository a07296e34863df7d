import { expect, type Page } from '@playwright/test';

/** Nothing is out of sight at this width: the page does not scroll sideways, and no table is wider than its box. */
export async function expectNoOverflow(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  const wide = () =>
    page.evaluate(() => [
      ...(document.documentElement.scrollWidth > window.innerWidth ? ['the page'] : []),
      ...[...document.querySelectorAll('[role="group"]:has(> table)')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((table) => table.getAttribute('aria-label') ?? ''),
    ]);
  await expect.poll(wide).toEqual([]);
}
