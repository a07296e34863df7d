import { measuresPage } from './measures-page.ts';
import { metricsPage } from './metrics-page.ts';

/** The pages that are made of the code: where they lie in the repository, and their text. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/guides/measures.md', measuresPage()],
    ['docs/guides/metrics.md', await metricsPage()],
  ]);
}
