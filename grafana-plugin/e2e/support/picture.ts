import type { Page, PageScreenshotOptions } from '@playwright/test';

/** Keeps a picture of the page in `screenshots/` with SCREENSHOTS=1: no test reads it, and each takes a second of a core. */
export async function keepPicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (process.env['SCREENSHOTS']) {
    await page.screenshot({ path: `screenshots/${name}.png`, ...options });
  }
}
