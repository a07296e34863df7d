import { join } from 'node:path';
import { replaceFile } from '../../files/durable-file.ts';
import { besideOutput } from '../../files/output-temporary.ts';
import { sweepPage } from './sweep-page.ts';
import type { SweepReport } from './sweep-report.ts';

/** Writes the report of a group beside its runs. Returns the path; throws the file system's error. */
export async function writeSweepReport(runsDirectory: string, name: string, report: SweepReport): Promise<string> {
  const path = join(runsDirectory, `${fileName(name)}.report.html`);
  await replaceFile(path, sweepPage(report), besideOutput);
  return path;
}

/** Groups of other tools and scenarios may have names that are no file names. The dot makes it no run's. */
function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2a').slice(0, MAX_CHARACTERS);
}

const MAX_CHARACTERS = 150;
