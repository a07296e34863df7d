import { mkdir, writeFile } from 'node:fs/promises';
import { generatedPages } from './pages.ts';

for (const [path, text] of await generatedPages()) {
  const file = new URL(`../../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
}
