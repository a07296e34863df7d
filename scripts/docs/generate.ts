import { mkdir, writeFile } from 'node:fs/promises';
import { BAD_WEEK_PAGE, badWeekPage } from './bad-week.ts';
import { compatibilityPage } from './compatibility-page.ts';
import { histogramFamilies, metricsPage } from './metrics-page.ts';
import { measuresPage } from './measures-page.ts';
import { peersPage } from './peers-page.ts';
import { ownFamilies } from './own-families.ts';
import { tutorialPages } from './tutorial-pages.ts';

/** The generated files: path in the repository, and text. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/guides/measures.md', measuresPage()],
    ['docs/guides/metrics.md', await metricsPage()],
    ['docs/guides/coming-from-other-tools.md', peersPage()],
    ['docs/compatibility.md', compatibilityPage()],
    ...tutorialPages(),
    ['grafana-plugin/src/catalog/histogram-families.json', `${JSON.stringify(histogramFamilies(), null, 2)}\n`],
    ['catalog/llmbench.json', `${JSON.stringify(await ownFamilies(), null, 2)}\n`],
  ]);
}

if (import.meta.main) {
  const pages = new Map(await generatedPages());
  // Its checks take half a minute.
  if (process.argv.includes('bad-week')) pages.set(BAD_WEEK_PAGE, await badWeekPage());
  for (const [path, text] of pages) {
    const file = new URL(`../../${path}`, import.meta.url);
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, text);
  }
}
