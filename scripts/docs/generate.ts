import { mkdir, writeFile } from 'node:fs/promises';
import { BAD_WEEK_PAGE, badWeekPage } from './bad-week.ts';
import { generatedPages } from './pages.ts';

const pages = new Map(await generatedPages());
// Its checks take half a minute.
if (process.argv.includes('bad-week')) pages.set(BAD_WEEK_PAGE, await badWeekPage());
for (const [path, text] of pages) {
  const file = new URL(`../../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
}
