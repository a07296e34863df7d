import { expect, test } from '@jest/globals';
import { parseText } from '../../core/exposition/index.ts';
import { parseOpenMetrics } from '../../core/exposition/testing/open-metrics.ts';
import { ProcessMetrics } from './process-metrics.ts';

const metrics = new ProcessMetrics();
const valueOf = (lines: string, name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(lines)?.[1]);

test('memory, start and CPU time of this process', async () => {
  const lines = await metrics.lines('text');
  const resident = valueOf(lines, 'process_resident_memory_bytes') / process.memoryUsage.rss();
  expect(resident).toBeGreaterThan(0.5);
  expect(resident).toBeLessThan(2);
  const started_seconds = Date.now() / 1000 - process.uptime();
  expect(Math.abs(valueOf(lines, 'process_start_time_seconds') - started_seconds)).toBeLessThan(5);
  const counted = valueOf(lines, 'process_cpu_seconds_total');
  const { user, system } = process.cpuUsage();
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual((user + system) / 1e6);
});

test('a scrape takes nothing from the next one', async () => {
  const counted = valueOf(await metrics.lines('text'), 'process_cpu_seconds_total');
  expect(valueOf(await metrics.lines('text'), 'process_cpu_seconds_total')).toBeGreaterThanOrEqual(counted);
});

test('a page of either format can begin with them', async () => {
  const open = parseOpenMetrics(Buffer.from(`${await metrics.lines('openmetrics')}# EOF\n`));
  const text = parseText(Buffer.from(await metrics.lines('text')));
  for (const { families } of [open, text]) {
    expect(families.map(({ name }) => name.replace(/_total$/, ''))).toContain('process_cpu_seconds');
  }
});
