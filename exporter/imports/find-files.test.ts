import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { DEEPEST_FOLDER, findFiles } from './find-files.ts';
import { inTemporaryFolder } from './testing/import-folder.ts';

test('folders are walked; links that lead out are refused, links within and in circles do no harm', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'root');
    await mkdir(join(root, 'a', 'b'), { recursive: true });
    await mkdir(join(root, 'node_modules'));
    await writeFile(join(folder, 'secret'), 'x');
    await writeFile(join(root, 'a', 'b', 'one'), 'x');
    await writeFile(join(root, 'node_modules', 'many'), 'x');
    await symlink(join(folder, 'secret'), join(root, 'out'));
    await symlink(join(root, 'a', 'b', 'one'), join(root, 'within'));
    await symlink(root, join(root, 'a', 'circle'));
    await symlink(join(root, 'nowhere'), join(root, 'broken'));
    const found = await findFiles([root]);
    expect(found.paths.map((path) => relative(root, path))).toEqual([join('a', 'b', 'one'), 'within']);
    expect(found.refused).toEqual([{ path: join(root, 'out'), reason: 'it is a link that leads out of the folder' }]);
  }));

test('a missing path and a folder that is too deep are reported', () =>
  inTemporaryFolder(async (folder) => {
    const deep = join(folder, 'deep', ...Array.from({ length: DEEPEST_FOLDER + 1 }, () => 'd'));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, 'file'), 'x');
    const { paths, refused } = await findFiles([join(folder, 'none'), join(folder, 'deep')]);
    expect(paths).toEqual([]);
    expect(refused).toMatchObject([
      { reason: 'it does not exist (ENOENT)', missing: true },
      { reason: `it is more than ${DEEPEST_FOLDER} folders deep` },
    ]);
  }));

test('what is no path is named as such, without its secrets', async () => {
  const { paths, refused } = await findFiles([
    'https://user:geheim@host/result.json?token=geheim',
    's3://bucket/x.json',
    '-',
  ]);
  expect(paths).toEqual([]);
  expect(refused).toEqual([
    { path: 'https://host/result.json', reason: 'it is a URL: download the file and pass its path', missing: true },
    { path: 's3://bucket/x.json', reason: 'it is a URL: download the file and pass its path', missing: true },
    { path: '-', reason: 'standard input cannot be imported: write it to a file', missing: true },
  ]);
});

test.each(['/proc/kmsg', '/proc/self', '/sys/kernel'])(
  '%s is refused: reading there may wait for ever',
  async (path) => {
    if (process.platform !== 'linux') return;
    expect(await findFiles([path])).toEqual({
      paths: [],
      refused: [{ path, reason: 'it is a file of the kernel, not of a disk' }],
    });
  },
);
