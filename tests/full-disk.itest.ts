import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';

const LLMBENCH = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
/** In namespaces of its own a process may mount a small file system without being root. */
const MOUNTS = ['--map-root-user', '--mount'];
const canMount = spawnSync('unshare', [...MOUNTS, 'true']).status === 0;
const describeWithMounts = canMount ? describe : describe.skip;
if (!canMount) process.stderr.write('skipped: full disks, which need `unshare --map-root-user --mount` (Linux)\n');

/** What each command that writes says with 0 bytes left, in this order; deleting comes last. */
const TABLE: readonly (readonly [command: string, code: number, output: RegExp])[] = [
  ['runs', 0, /r4 .*completed/],
  ['runs verify', 0, /^4 ok$/m],
  ['compare r1 r2', 0, /request throughput/],
  ['check --scenario nightly', 1, /^llmbench check: the disk is full \(ENOSPC\); free space and repeat the command$/],
  ['baseline accept r2 --reason x', 1, /^llmbench baseline: .*the disk is full \(ENOSPC\)$/],
  ['runs tag r2 +a', 1, /^llmbench runs: .*the disk is full \(ENOSPC\).*$/],
  ['report r2', 1, /^llmbench report: .*the disk is full \(ENOSPC\)$/],
  ['runs export r1 --format parquet --output disk/x.parquet', 1, /^llmbench runs: .*the disk is full \(ENOSPC\)$/],
  ['import file.json', 2, /^llmbench import: .*the disk is full \(ENOSPC\); choose another with --runs-dir$/],
  [
    'collect --server-metrics http://127.0.0.1:9/metrics --duration 1 --out disk/collected',
    1,
    /^llmbench collect: cannot write to disk\/collected: the disk is full \(ENOSPC\)$/m,
  ],
  ['run --url http://127.0.0.1:9 --model m --request-count 1', 2, /^llmbench run: .*the disk is full \(ENOSPC\); /],
  ['serve --port 0', 0, /cannot be written, the disk is full \(ENOSPC\): its finished runs are served/],
  ['runs delete r1 --yes', 0, /^r1 {2}deleted$/],
  ['runs prune --keep-last 1 --yes', 0, /^r3 {2}deleted\nr2 {2}deleted$/],
  ['runs verify', 0, /^1 ok$/m],
];

describeWithMounts('with 0 bytes left', () => {
  let directory = '';
  let outcomes: readonly (readonly [code: number, output: string])[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'llmbench-full-disk-'));
    const { store } = await openStore(join(directory, 'runs'));
    for (const day of [1, 2, 3, 4]) {
      const start = new Date(Date.UTC(2026, 10, day)).toISOString();
      await addRun(store, addedRun(`r${day}`, { scenario: 'nightly', start }, 200));
    }
    await mkdir(join(directory, 'disk'));
    await writeFile(join(directory, 'script'), script());
    const { stdout, stderr } = spawnSync('unshare', [...MOUNTS, 'bash', join(directory, 'script')], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    outcomes = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([code = '', text = '']) => [Number(code), Buffer.from(text, 'base64').toString().trim()]);
  }, 300_000);

  afterAll(() => rm(directory, { recursive: true }));

  /** Ends once it says that it serves. */
  const served = (program: string): string => `${program} > output 2>&1 & pid=$!
for i in $(seq 600); do grep -q 'serving the runs' output && break; sleep 0.1; done
kill -TERM $pid; wait $pid; code=$?`;

  /** Fills a small file system that has the runs, and prints a line with exit code and output for each command. */
  function script(): string {
    const commands = TABLE.map(([command]) => {
      const store = command.startsWith('collect') ? '' : '--runs-dir disk/runs';
      const program = `'${process.execPath}' '${LLMBENCH}' ${command} ${store}`;
      return `${command.startsWith('serve') ? served(program) : `${program} > output 2>&1; code=$?`}
printf '%s\\t%s\\n' $code "$(base64 --wrap=0 output)"`;
    });
    return `mount -t tmpfs -o size=4m tmpfs disk
cp -r runs disk/runs
mkdir -p disk/runs/.unfinished
dd if=/dev/zero of=disk/fill bs=1k count=5000 2> /dev/null
echo '{}' > file.json
${commands.join('\n')}
`;
  }

  test.each(TABLE.map(([command, code, output], i) => [command, i, code, output] as const))(
    '%s',
    (_command, i, code, output) => {
      expect(outcomes[i]?.[1]).toMatch(output);
      expect(outcomes[i]?.[0]).toBe(code);
      expect(outcomes[i]?.[1]).not.toContain('    at ');
    },
  );
});
