import { execFileSync } from 'node:child_process';
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
  utimes,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, afterEach, beforeEach, describe } from '@jest/globals';
import fc from 'fast-check';
import { jsonText, replaceFile, outputFile, besideOutput } from './durable-file.ts';
import { ownIdentity } from './process-identity.ts';

describe('durable file', () => {
  test('a line per member, and per element of a list', () => {
    const value = {
      id: 'a',
      none: undefined,
      empty: [],
      measures: [
        { mean: 1, p50: null },
        { mean: 2, p50: 3 },
      ],
    };
    expect(jsonText(value)).toBe(
      '{\n  "id": "a",\n  "empty": [],\n  "measures": [\n    {"mean":1,"p50":null},\n    {"mean":2,"p50":3}\n  ]\n}\n',
    );
  });

  test('property: it has the value that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.object(), fc.array(fc.anything({ withBigInt: false }))), (value) => {
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('output file', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'llmbench-output-')));
  });

  afterEach(() => rm(folder, { recursive: true }));

  describe('the output that a user names', () => {
    test('a new or a regular file is replaced', async () => {
      expect(await outputFile(at('new'))).toEqual({ path: at('new'), replaceable: true });
      await writeFile(at('old'), 'x');
      expect(await outputFile(at('old'))).toEqual({ path: at('old'), replaceable: true });
    });

    test('a symbolic link stands for its target, also if that does not exist yet', async () => {
      await writeFile(at('old'), 'x');
      await symlink('old', at('link'));
      await symlink('later', at('dangling'));
      expect(await outputFile(at('link'))).toEqual({ path: at('old'), replaceable: true });
      expect(await outputFile(at('dangling'))).toEqual({ path: at('later'), replaceable: true });
    });

    test('a FIFO and a device are not replaced, also behind a link', async () => {
      execFileSync('mkfifo', [at('fifo')]);
      await symlink('/dev/null', at('link'));
      expect(await outputFile(at('fifo'))).toEqual({ path: at('fifo'), replaceable: false });
      expect(await outputFile('/dev/null')).toEqual({ path: '/dev/null', replaceable: false });
      expect(await outputFile(at('link'))).toEqual({ path: '/dev/null', replaceable: false });
    });
  });

  describe('a file with a name of our own', () => {
    test('is replaced if it is a regular file', async () => {
      await replaceFile(at('a'), 'one');
      await replaceFile(at('a'), 'two');
      expect(await readFile(at('a'), 'utf8')).toBe('two');
    });

    test('leaves nothing behind when it cannot take its place', async () => {
      await mkdir(at('folder'));
      await expect(replaceFile(at('folder'), 'x')).rejects.toThrow('is not a regular file');
      for (const unnamed of ['', at('missing/a')]) {
        await expect(replaceFile(unnamed, 'x', () => at('new.tmp'))).rejects.toThrow('ENOENT');
      }
      expect(await readdir(folder)).toEqual(['folder']);
    });

    test('a symbolic link and a FIFO are neither replaced nor followed', async () => {
      await writeFile(at('elsewhere'), 'kept');
      await symlink('elsewhere', at('link'));
      execFileSync('mkfifo', [at('fifo')]);
      for (const name of ['link', 'fifo']) {
        await expect(replaceFile(at(name), 'x')).rejects.toThrow(
          `${at(name)} is not a regular file and is not replaced`,
        );
      }
      expect(await readlink(at('link'))).toBe('elsewhere');
      expect(await readFile(at('elsewhere'), 'utf8')).toBe('kept');
      expect((await lstat(at('fifo'))).isFIFO()).toBe(true);
    });
  });
});

describe('output temporary', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-output-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const put = async (name: string): Promise<string> => {
    await writeFile(join(folder, name), 'x');
    return name;
  };

  test('what ended processes have left in the folder is removed, and nothing else', async () => {
    const own = ownIdentity();
    const ended = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
    await put(`rows.csv.${ended}~${own.start_time}.tmp`);
    await put(`other.jsonl.${process.pid}~${own.start_time}1.tmp`);
    const elsewhere = await put('old.csv.1~0123456789ab.17.tmp');
    await utimes(join(folder, elsewhere), 1, 1);
    const kept = [
      await put('rows.csv'),
      await put('rows.csv.tmp'),
      await put(`rows.csv.${ended}.tmp`),
      await put(`rows.csv.${own.pid}~${own.start_time}.tmp`),
      // Of another machine, and touched a moment ago.
      await put('rows.csv.1~0123456789ab.18.tmp'),
    ];
    const temporary = await besideOutput(join(folder, 'rows.csv'));
    expect(temporary).toBe(join(folder, `rows.csv.${own.pid}~${own.start_time}.tmp`));
    expect((await readdir(folder)).sort()).toEqual(kept.sort());
  });

  test('a folder that cannot be read is no error', async () => {
    const path = join(folder, 'missing', 'rows.csv');
    expect(await besideOutput(path)).toContain(path);
  });
});
