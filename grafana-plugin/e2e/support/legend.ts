import type { Page } from '@playwright/test';
import type { ExpectedRow } from './expected-legend.ts';

export interface LegendRow extends ExpectedRow {
  name: string;
  /** The cells as they are read: name, estimate, interval and, for true counts, n. */
  texts: string[];
}

/** The legend of the panel with the numbers behind its texts. */
export async function legendRows(page: Page): Promise<LegendRow[]> {
  const rows = page.getByTestId('percentiles legend').locator('tbody tr');
  await rows.first().waitFor();
  return rows.evaluateAll((elements) =>
    elements.map((element) => {
      const texts = [...element.children].map((cell) => cell.textContent ?? '');
      const [estimate = '', interval = ''] = [...element.querySelectorAll('data')].map(({ value }) => value);
      const [low = NaN, high = NaN] = interval.split(' ').map(Number);
      return { name: texts[0] ?? '', texts, estimate: Number(estimate), low, high };
    })
  );
}

export async function legendHeadings(page: Page): Promise<string[]> {
  return page.getByTestId('percentiles legend').locator('thead th').allTextContents();
}
