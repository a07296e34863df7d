import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CHART, fillChart } from '../kubernetes/chart-files.ts';

interface Options {
  /** Where the archive goes. */
  readonly folder: string;
  readonly version: string;
  readonly date: Date;
}

/** Packs the chart with its dashboards and rules as `helm package` does, with the same bytes for the same files. */
export async function chartArchive({ folder, version, date }: Options): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), 'llmbench-chart-'));
  try {
    const chart = join(staging, 'llmbench');
    cpSync(CHART, chart, { recursive: true });
    await fillChart(chart);
    const same = ['--sort=name', `--mtime=@${date.getTime() / 1000}`, '--owner=0', '--group=0', '--numeric-owner'];
    const tar = execFileSync('tar', [...same, '--mode=u=rwX,go=rX', '--format=ustar', '-cf', '-', 'llmbench'], {
      cwd: staging,
      maxBuffer: 1 << 28,
    });
    writeFileSync(join(folder, `llmbench-${version}.tgz`), gzipSync(tar, { level: 9 }));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
