import { mkdir, writeFile } from 'node:fs/promises';
import { generatedPages } from './pages.ts';

await mkdir(new URL('../../docs/guides/', import.meta.url), { recursive: true });
for (const [path, text] of await generatedPages()) await writeFile(new URL(`../../${path}`, import.meta.url), text);
