import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ensureAlertmanager, ensurePrometheus } from './programs.mjs';

const originalPath = process.env['PATH'];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-ensure-'));
});

afterEach(async () => {
  process.env['PATH'] = originalPath;
  await rm(folder, { recursive: true });
});

/** A program of that name that prints one line for any arguments. */
async function program(path: string, line: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho '${line}'\n`);
  await chmod(file, 0o755);
  return file;
}

/** `apt-get` and `dpkg-deb` that pretend: packages are empty files, and unpacking one writes its programs. */
async function archive(packages: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const cases = (line: (name: string, programs: readonly string[]) => string): string =>
    Object.entries(packages)
      .map(([name, programs]) => line(name, programs))
      .join('\n');
  const aptGet = `#!/bin/sh\nfor last; do :; done\ncase "$last" in\n${cases(
    (name) => `${name}) : > "${name}_1_amd64.deb";;`,
  )}\n*) echo "E: Unable to locate package $last" >&2; exit 100;;\nesac\n`;
  const write = (name: string): string =>
    `printf '#!/bin/sh\\necho "${name}, version 2.42.0+ds"\\n' > "$3/usr/bin/${name}"; chmod +x "$3/usr/bin/${name}"`;
  const dpkg = `#!/bin/sh\nPATH=/usr/bin:/bin\nmkdir -p "$3/usr/bin"\ncase "$2" in\n${cases(
    (name, programs) => `*/${name}_*) ${programs.map(write).join('; ')};;`,
  )}\nesac\n`;
  for (const [name, script] of [
    ['apt-get', aptGet],
    ['dpkg-deb', dpkg],
  ] as const) {
    await program(`tools/${name}`, '');
    await writeFile(join(folder, 'tools', name), script);
  }
}

const PROMETHEUS_LINE = 'prometheus, version 3.5.3+ds1 (branch: debian/sid, revision: 3.5.3+ds1-6)';

describe('ensurePrometheus', () => {
  test('finds the first pair on the PATH and its version', async () => {
    const prometheus = await program('a/prometheus', PROMETHEUS_LINE);
    const promtool = await program('b/promtool', 'promtool, version 3.5.3');
    process.env['PATH'] = [join(folder, 'a'), join(folder, 'b')].join(delimiter);
    const found = await ensurePrometheus({ install: false, cacheFolder: join(folder, 'cache') });
    expect(found).toEqual({ prometheus, promtool, version: '3.5.3' });
  });

  test('takes the cache when the PATH has no pair, or another program of that name', async () => {
    const prometheus = await program('cache/usr/bin/prometheus', PROMETHEUS_LINE);
    const promtool = await program('cache/usr/bin/promtool', 'promtool, version 3.5.3');
    await program('a/prometheus', 'the Titan of forethought');
    await program('a/promtool', 'x');
    process.env['PATH'] = join(folder, 'a');
    const found = await ensurePrometheus({ install: false, cacheFolder: join(folder, 'cache') });
    expect(found).toEqual({ prometheus, promtool, version: '3.5.3' });
  });

  test('gives null, and touches nothing, where there is none and nothing may be installed', async () => {
    await archive({ prometheus: ['prometheus', 'promtool'] });
    process.env['PATH'] = join(folder, 'tools');
    expect(await ensurePrometheus({ install: false, cacheFolder: join(folder, 'cache') })).toBeNull();
    expect(await readdir(folder)).toEqual(['tools']);
  });

  test.each([
    ['one package with both programs', { prometheus: ['prometheus', 'promtool'] }],
    ['a package for each program', { prometheus: ['prometheus'], promtool: ['promtool'] }],
  ])('unpacks %s, and leaves nothing else behind', async (_name, packages) => {
    await archive(packages);
    process.env['PATH'] = join(folder, 'tools');
    const cacheFolder = join(folder, 'new', 'cache');
    expect(await ensurePrometheus({ install: true, cacheFolder })).toEqual({
      prometheus: join(cacheFolder, 'usr/bin/prometheus'),
      promtool: join(cacheFolder, 'usr/bin/promtool'),
      version: '2.42.0',
    });
    expect(await readdir(join(folder, 'new'))).toEqual(['cache']);
  });

  test.each([
    ['without apt-get', null, 'there is no apt-get on this machine'],
    ['when the archive does not have the package', {}, 'E: Unable to locate package'],
  ])('%s gives null and the reason in one line', async (_name, packages, reason) => {
    if (packages !== null) await archive(packages);
    process.env['PATH'] = join(folder, 'tools');
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    expect(await ensurePrometheus({ install: true, cacheFolder: join(folder, 'cache'), report })).toBeNull();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(reason);
    expect(lines[0]).not.toContain('\n');
  });
});

describe('ensureAlertmanager', () => {
  const LINE = 'alertmanager, version 0.25.0 (branch: debian/sid)';

  test.each(['alertmanager', 'prometheus-alertmanager'])('finds it on the PATH as %s', async (name) => {
    const alertmanager = await program(`a/${name}`, LINE);
    const amtool = await program('a/amtool', 'amtool, version 0.25.0');
    process.env['PATH'] = join(folder, 'a');
    const found = await ensureAlertmanager({ install: false, cacheFolder: join(folder, 'cache') });
    expect(found).toEqual({ alertmanager, amtool, version: '0.25.0' });
  });

  test("unpacks Debian's package, so that it finds its templates where it is unpacked", async () => {
    await archive({});
    await program('tools/apt-get', '');
    await writeFile(join(folder, 'tools/apt-get'), '#!/bin/sh\n: > prometheus-alertmanager_1_amd64.deb\n');
    const write = (name: string, line: string): string =>
      `printf '#!/bin/sh\\n# /usr/share/prometheus/alertmanager/ui\\necho "${line}"\\n' > "$3/usr/bin/${name}"; chmod +x "$3/usr/bin/${name}"`;
    const dpkg = [write('prometheus-alertmanager', LINE), write('amtool', 'amtool')].join('\n');
    await writeFile(join(folder, 'tools/dpkg-deb'), `#!/bin/sh\nPATH=/usr/bin:/bin\nmkdir -p "$3/usr/bin"\n${dpkg}\n`);
    process.env['PATH'] = join(folder, 'tools');
    const cacheFolder = join(folder, 'cache');
    const alertmanager = join(cacheFolder, 'usr/bin/prometheus-alertmanager');
    expect(await ensureAlertmanager({ install: true, cacheFolder })).toEqual({
      ...{ alertmanager, amtool: join(cacheFolder, 'usr/bin/amtool'), version: '0.25.0' },
    });
    expect(await readFile(alertmanager, 'utf8')).toContain('# usr/share/prometheus/alertmanager//ui\n');
  });
});
